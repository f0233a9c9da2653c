"""A topic exported to HDFS by Spark, with real servers: the files hold what the topic holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.filesystem.storages.hdfs.cluster import HdfsCluster, hdfs_cluster
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.matrix]

COUNT, PARTITIONS = 6000, 3
ORDERS = [{"n": number, "name": f"ü{number}", "amount": number / 4} for number in range(COUNT)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsCluster]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


def test_files_in_hdfs_hold_what_the_topic_holds(
    stack: Stack, topics: Topics, cluster: HdfsCluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        monkeypatch.setenv(variable, value)
    topic = topics.create(PARTITIONS)
    values = [orjson.dumps(one) for one in ORDERS]
    topics.write(topic, values[: COUNT // 2], PARTITIONS)
    config = {
        "name": "to-hdfs",
        "connector.class": "FileSystemSink",
        "tasks.max": "2",
        "topics": topic,
        "path": f"{cluster.url}/lake",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    with ExitStack() as open_things:
        export = open_things.enter_context(ConnectorRuns("to-hdfs", config, ConnectorType.SINK))
        assert export.run().records == COUNT // 2
        cluster.kill()
        cluster.start()
        topics.write(topic, values[COUNT // 2 :], PARTITIONS)
        assert export.run().records == COUNT // 2
    rows: list[Any] = [row for place in data_files(cluster, topic) for row in rows_of(cluster, place)]
    assert sorted(rows, key=lambda row: row["n"]) == ORDERS
    hidden = cluster.client().list_status("/lake/_connect", recursive=True)
    assert not [one.path for one in hidden if "+tmp" in one.path and not one.isdir]


def data_files(cluster: HdfsCluster, topic: str) -> list[str]:
    found = cluster.client().list_status(f"/lake/{topic}", recursive=True)
    return sorted(one.path for one in found if one.path.endswith(".parquet"))


def rows_of(cluster: HdfsCluster, place: str) -> list[dict[str, object]]:
    """Return a file's rows; they stand in the topic's order."""
    rows: list[dict[str, object]] = pq.read_table(
        pa.BufferReader(bytes(cluster.client().read(place).read()))
    ).to_pylist()
    assert [row["n"] for row in rows] == sorted(row["n"] for row in rows)  # type: ignore[type-var]
    return rows
