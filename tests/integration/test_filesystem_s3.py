"""A real topic by Spark to SeaweedFS: the objects hold what the topic holds, in order, and nothing else stays."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.filesystem.storages.s3.servers import S3Server, seaweed_running
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

COUNT, PARTITIONS = 8000, 4
STRING = "org.apache.kafka.connect.storage.StringConverter"


def order(number: int) -> dict[str, Any]:
    """Return an order; its text is long and hardly compressed, so that files are uploaded in parts."""
    text = "".join(str(hash((number, part)) % 10**18) for part in range(200))
    return {"n": number, "country": ["de", "Österreich", "../../x"][number % 3], "text": text}


ORDERS = [order(number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with seaweed_running(tmp_path_factory.mktemp("seaweed")) as url:
        yield S3Server(url)


def test_objects_hold_what_the_topic_holds(stack: Stack, store: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    topic = topics.create(PARTITIONS)
    topics.write(topic, [orjson.dumps(one) for one in ORDERS], PARTITIONS)
    for variable, value in stack.environment().items():
        monkeypatch.setenv(variable, value)
    config = {
        **store.config("lake"),
        "name": "to-s3",
        "connector.class": "FileSystemSink",
        "tasks.max": "2",
        "topics": topic,
        "parquet.codec": "none",
        "parquet.dictionary": "false",
        "key.converter": STRING,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    with ExitStack() as open_things:
        export = open_things.enter_context(ConnectorRuns("to-s3", config, ConnectorType.SINK))
        assert export.run().records == COUNT
        files = [name for name in store.listed() if not name.endswith("/_SUCCESS")]
        assert len(files) == PARTITIONS
        rows = [row for name in files for row in rows_of(store.content(f"lake/{name}"))]
        assert sorted(rows, key=lambda row: row["n"]) == ORDERS
        for name in files:
            numbers = [row["n"] for row in rows_of(store.content(f"lake/{name}"))]
            assert numbers == sorted(numbers)
        # What the first interval found are the columns the topic has from now on: the next is written once.
        topics.write(topic, [orjson.dumps(one) for one in ORDERS], PARTITIONS)
        assert export.run().records == COUNT
    rows = [
        row for name in store.listed() if name.endswith(".parquet") for row in rows_of(store.content(f"lake/{name}"))
    ]
    assert sorted(rows, key=lambda row: row["n"]) == [one for one in ORDERS for _ in range(2)]
    assert store.uploads() == []


def rows_of(content: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(content)).to_pylist()
    return rows
