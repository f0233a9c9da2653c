"""Formats x partitioners x storages: files hold what the topic holds, in values, types and order.

``make test`` takes every pair of a format, a partitioner and a storage once, with tasks as threads of this process and
without HDFS, whose servers take their time; ``make matrix`` (CONNECT_MATRIX=1) all combinations by Spark, which then
reads the files, too.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from confluent_kafka import Producer

from connect_core.configs import load_worker
from connect_core.dev.stack import Stack
from connect_core.herder.verification import Verification
from connect_core.run.runner import ThreadRunner
from connect_core.settings import WorkerMode
from connect_core.spark.remote import remote_runner
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.filesystem.storages.stores import FileStore, started
from tests.full_run import IS_FULL_RUN
from tests.integration.file_readers import READERS, SPARK, by_spark, plain
from tests.integration.file_rows import COUNT, PARTITIONS, ROWS, Row, as_csv, as_json, stored_country, value_of
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

STORAGES = ("local", "s3", "gcs", "azure", "hdfs")
JSON = "org.apache.kafka.connect.json.JsonConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
AT = {"timestamp.extractor": "RecordField", "timestamp.field": "at", "locale": "en"}
PARTITIONERS: Mapping[str, Mapping[str, str]] = {
    "partition": {},
    "field": {"partition.field.name": "country"},
    "time": {**AT, "path.format": "'at'=YYYY-MM-dd-HH", "partition.duration.ms": "3600000", "timezone": "Asia/Kolkata"},
    "daily": {**AT, "timezone": "Pacific/Auckland", "flush.size": "4"},
    "hourly": {**AT, "timezone": "UTC"},
}
PARTS = {"format.output.fields": "key,value,offset,timestamp"}
WITHOUT_TIME = {
    "transforms": "drop",
    "transforms.drop.type": "org.apache.kafka.connect.transforms.ReplaceField$Value",
    "transforms.drop.exclude": "moment",
}
FORMATS: Mapping[str, Mapping[str, str]] = {
    "parquet": {},
    "avro": {},
    "orc": WITHOUT_TIME,
    "csv": {},
    "json": {},
    "raw": {"value.converter": BYTES},
    "envelope": PARTS,
    "plain": {"value.converter": BYTES, **PARTS},
}
WITHOUT_FIELDS = ("raw", "plain")
"""Formats of bytes: no field can name their folders, and the record's own time is that of the others' field."""

Combination = tuple[str, str, str]
ALL: list[Combination] = [
    (form, partitioner, storage)
    for storage, form, partitioner in product(STORAGES, FORMATS, PARTITIONERS)
    if not (partitioner == "field" and form in WITHOUT_FIELDS)
]


SMOKE = [one for one in ALL if one[2] in ("local", "s3")]


def pairwise(every: Sequence[Combination]) -> list[Combination]:
    """Return few combinations that have each two values that come together in any."""

    def pairs(one: Combination) -> set[Any]:
        return set(combinations(enumerate(one), 2))

    left, chosen = set().union(*map(pairs, every)), []
    while left:
        chosen.append(max(every, key=lambda one: len(pairs(one) & left)))
        left -= pairs(chosen[-1])
    return sorted(chosen, key=every.index)


@pytest.fixture(scope="module")
def topic(topics: Topics) -> str:
    """A topic of all rows: that of a number is in partition ``number % 3``, at offset ``number // 3``."""
    name = topics.create(PARTITIONS, retention_ms="-1")
    producer = Producer({"bootstrap.servers": topics.bootstrap, "enable.idempotence": True})
    for number, row in enumerate(ROWS):
        milliseconds = round(row["at"].timestamp() * 1000)
        producer.produce(name, value_of(row), str(number), number % PARTITIONS, timestamp=milliseconds)
    assert producer.flush(30) == 0
    return name


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], FileStore]]:
    """Each storage, started when it is first asked for."""
    stores: dict[str, FileStore] = {}
    with ExitStack() as open_things:

        def of(kind: str) -> FileStore:
            if kind not in stores:
                stores[kind] = started(kind, tmp_path_factory.mktemp(kind), open_things)
            return stores[kind]

        yield of


@dataclass(frozen=True, slots=True)
class Workbench:
    """A topic of all rows and what exports it."""

    topic: str
    store_of: Callable[[str], FileStore]
    folder: Path

    def exported(self, form: str, partitioner: str, storage: str, *, is_recounted: bool = False) -> list[Path]:
        """Export the topic → the files, copied to this machine."""
        store, name = self.store_of(storage), f"{form}-{partitioner}-{storage}" + "-again" * is_recounted
        config = config_of(form, partitioner, self.topic, name, store)
        if storage == "local":
            os.environ["CONNECT_FILE_ROOTS"] = config["path"].rpartition("/")[0]
        with ConnectorRuns(name, config, runner=None if IS_FULL_RUN else ThreadRunner()) as export:
            assert export.run().records == COUNT
            if is_recounted:
                check_recount(export.recounted())
        return store.copy(name, self.folder)


@pytest.fixture
def bench(
    stack: Stack,
    topic: str,
    store_of: Callable[[str], FileStore],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Workbench:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        monkeypatch.setenv(variable, value)
    return Workbench(topic, store_of, folder)


@pytest.mark.parametrize("combination", ALL if IS_FULL_RUN else pairwise(SMOKE), ids="-".join)
def test_files_hold_what_the_topic_holds(combination: Combination, bench: Workbench) -> None:
    form, partitioner, _ = combination
    files = bench.exported(*combination)
    home = bench.folder / bench.topic
    for reader, read in READERS[form].items():
        found = {place: [plain(row) for row in read(place)] for place in files}
        check(found, expected_of(form, reader), home, partitioner)
    if IS_FULL_RUN and form in SPARK:
        settings = load_worker(None, os.environ, WorkerMode.DISTRIBUTED)
        rows = by_spark(remote_runner(settings).session, form, home)
        expected = [without(row, "moment", "data" if form == "json" else "") for row in ROWS]
        assert [typed(row) for row in rows] == [typed(row) for row in expected]


@pytest.mark.parametrize("storage", STORAGES if IS_FULL_RUN else STORAGES[:-1])
def test_an_export_is_recounted_without_a_difference(storage: str, bench: Workbench) -> None:
    """By ``connect verify``, on files of a storage and a topic of a broker."""
    assert len(bench.exported("parquet", "partition", storage, is_recounted=True)) == PARTITIONS


def check_recount(found: Verification) -> None:
    assert (found.differences, found.is_complete, found.parts) == ([], True, PARTITIONS)
    assert (found.rows, found.found, found.records) == (COUNT, COUNT, COUNT)
    lines = [(one.start, one.end, one.offsets, one.earliest, one.stable, one.retained) for one in found.partitions]
    each = COUNT // PARTITIONS
    assert lines == [(0, each, each, 0, each, each)] * PARTITIONS


def config_of(form: str, partitioner: str, topic: str, name: str, store: FileStore) -> dict[str, str]:
    config = {
        "name": name,
        "connector.class": "FileSystemSink",
        "tasks.max": "2",
        "topics": topic,
        "key.converter": STRING,
        "value.converter": JSON,
        "value.converter.schemas.enable": "true",
        "format": form,
        "partitioner": partitioner,
        **PARTITIONERS[partitioner],
        **FORMATS[form],
        **store.config(name),
    }
    if form in WITHOUT_FIELDS and "timestamp.field" in config:
        config["timestamp.extractor"] = "Record"
    return config


def expected_of(form: str, reader: str) -> list[Row]:
    """Return what a reader finds of each row."""
    if form == "orc":
        return [without(row, "moment") for row in ROWS]
    if form == "csv":
        return [as_csv(row) for row in ROWS]
    if form == "json" and reader == "python":
        return [as_json(row) for row in ROWS]
    if form == "raw":
        return [{"line": value_of(row)} for row in ROWS]
    if form in ("envelope", "plain"):
        return [parts_of(form, number, row) for number, row in enumerate(ROWS)]
    return ROWS


def without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def parts_of(form: str, number: int, row: Row) -> Row:
    at, offset = row["at"], number // PARTITIONS
    if form == "envelope":
        return {"key": str(number), "value": as_json(row), "offset": offset, "timestamp": as_json(at)}
    parts = [base64.b64encode(one).decode() for one in (str(number).encode(), value_of(row))]
    return {"line": ",".join([*parts, str(offset), str(round(at.timestamp() * 1000))]).encode()}


def check(found: Mapping[Path, list[Row]], expected: Sequence[Row], home: Path, partitioner: str) -> None:
    """Compare files with the rows of each partition, and look for each row in the folder that is its own."""
    seen: list[int] = []
    for place, rows in found.items():
        partition, start = map(int, place.name.split("+")[1:3])
        told = [typed(row) for row in rows]
        mine = [number for number in range(partition, COUNT, PARTITIONS) if typed(expected[number]) in told]
        assert len(mine) == len(rows), difference(rows[0], expected[partition::PARTITIONS], place)
        assert told == [typed(expected[number]) for number in mine], f"{place} has another order"
        assert {folder_of(partitioner, number) for number in mine} == {place.parent.relative_to(home).as_posix()}
        assert start <= mine[0] // PARTITIONS
        seen += mine
    assert sorted(seen) == list(range(COUNT))


def typed(row: Row) -> Row:
    """Return a row in which 1, 1.0 and true differ."""
    return {name: (type(value).__name__, value) for name, value in row.items()}


def difference(row: Row, expected: Sequence[Row], place: Path) -> str:
    """Return how a row differs from that of its number, or the first of its partition."""
    wanted = next((one for one in expected if one.get("n") == row.get("n")), expected[0])
    names = {*row, *wanted}
    found, said = typed(row), typed(wanted)
    differing = {name: (found.get(name), said.get(name)) for name in names if found.get(name) != said.get(name)}
    return f"{place}: found and expected: {differing}"


def folder_of(partitioner: str, number: int) -> str:
    row = ROWS[number]
    if partitioner == "partition":
        return f"partition={number % PARTITIONS}"
    if partitioner == "field":
        return f"country={stored_country(row['country'])}"
    at = row["at"].astimezone(ZoneInfo(PARTITIONERS[partitioner]["timezone"]))
    if partitioner == "time":
        return f"at={at:%Y-%m-%d-%H}"
    return f"{at:year=%Y/month=%m/day=%d}" + (f"/hour={at:%H}" if partitioner == "hourly" else "")
