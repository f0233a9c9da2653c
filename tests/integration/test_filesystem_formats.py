"""Each format and partitioner over a real topic by Spark: the files hold what the topic holds, in order."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastavro
import orjson
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

COUNT, PARTITIONS = 4000, 4
COUNTRIES = ["de", "fr", "../../x", "Österreich", ""]
STRING = "org.apache.kafka.connect.storage.StringConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
DAILY = {
    "partitioner.class": "io.confluent.connect.storage.partitioner.DailyPartitioner",
    "timestamp.extractor": "RecordField",
    "timestamp.field": "at",
    "timezone": "UTC",
}


def order(number: int) -> dict[str, Any]:
    country = COUNTRIES[number % len(COUNTRIES)]
    at = 1_700_000_000_000 + number * 60_000
    return {"n": number, "country": country, "amount": number / 4, "at": at, "lines": [{"sku": f"ü{number}"}]}


ORDERS = [order(number) for number in range(COUNT)]
VALUES = [orjson.dumps(one) for one in ORDERS]


def avro_rows(file: Path) -> list[Any]:
    with file.open("rb") as source:
        return list(fastavro.reader(source))


def csv_rows(file: Path) -> list[Any]:
    with file.open(newline="") as source:
        rows = list(csv.DictReader(source))
    kinds: Mapping[str, Callable[[str], Any]] = {"n": int, "amount": float, "at": int, "lines": json.loads}
    return [{name: kinds.get(name, str)(value) for name, value in row.items()} for row in rows]


def json_rows(file: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


READERS: Mapping[str, Callable[[Path], list[Any]]] = {
    "parquet": lambda file: pq.ParquetFile(file).read().to_pylist(),
    "orc": lambda file: orc.ORCFile(str(file)).read().to_pylist(),
    "avro": avro_rows,
    "csv": csv_rows,
    "json": json_rows,
    "raw": lambda file: [json.loads(line) for line in file.read_bytes().splitlines()],
}
WAYS: Mapping[str, Mapping[str, str]] = {
    "parquet": {"partitioner": "field", "partition.field.name": "country"},
    "orc": {"flush.size": "300"},
    "avro": DAILY,
    "csv": {},
    "json": {"compression.type": "gzip", **DAILY},
    "raw": {"value.converter": BYTES, "flush.size": "700"},
}


@pytest.fixture(scope="module")
def topic(stack: Stack) -> str:
    topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    name = topics.create(PARTITIONS)
    topics.write(name, VALUES, PARTITIONS)
    return name


@pytest.mark.parametrize("form", sorted(WAYS))
def test_files_hold_what_the_topic_holds(
    stack: Stack, folder: Path, topic: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        monkeypatch.setenv(variable, value)
    config = {
        "name": f"files-{form}",
        "connector.class": "FileSystemSink",
        "tasks.max": "2",
        "topics": topic,
        "path": str(folder / "lake"),
        "format": form,
        "key.converter": STRING,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        **WAYS[form],
    }
    with ExitStack() as open_things:
        export = open_things.enter_context(ConnectorRuns(f"files-{form}", config, ConnectorType.SINK))
        assert export.run().records == COUNT
    files = {place: READERS[form](place) for place in data_files(folder / "lake" / topic)}
    assert sorted((row for rows in files.values() for row in rows), key=lambda row: row["n"]) == ORDERS
    for place, rows in files.items():
        partition = int(place.name.split("+")[1])
        assert {row["n"] % PARTITIONS for row in rows} == {partition}
        assert [row["n"] for row in rows] == sorted(row["n"] for row in rows)
        check_folder(form, place.parent.relative_to(folder / "lake" / topic).as_posix(), rows)


def data_files(folder: Path) -> Iterator[Path]:
    return (place for place in sorted(folder.rglob("*")) if place.is_file() and place.name != "_SUCCESS")


def check_folder(form: str, name: str, rows: list[Any]) -> None:
    """Check that a folder is that of its rows, and that files are no longer than they may be."""
    if form == "parquet":
        (country,) = {row["country"] for row in rows}
        known = {"../../x": "..%2F..%2Fx", "": "__HIVE_DEFAULT_PARTITION__"}
        assert name == f"country={known.get(country, country)}"
    elif WAYS[form].get("timestamp.field"):
        days = {datetime.fromtimestamp(row["at"] / 1000, UTC).strftime("year=%Y/month=%m/day=%d") for row in rows}
        assert days == {name}
    assert len(rows) <= int(WAYS[form].get("flush.size", COUNT))
