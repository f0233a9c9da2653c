"""Schemas that change under a registry's rules: old and new records of one interval, into files and into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.dev.stack import Stack
from connect_core.errors import ConnectError
from connect_core.run.runner import ThreadRunner
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.jdbc.clusters import Cluster, cluster
from tests.full_run import IS_FULL_RUN
from tests.integration.schema_changes import CHANGES, Change, Row
from tests.integration.topics import Topics
from tests.schema_registry.apicurio_server import apicurio_running

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

CONVERTERS = {
    "AVRO": ("io.confluent.connect.avro.AvroConverter", AvroConverter),
    "JSON": ("io.confluent.connect.json.JsonSchemaConverter", JsonSchemaConverter),
    "PROTOBUF": ("io.confluent.connect.protobuf.ProtobufConverter", ProtobufConverter),
}
MODES = ("BACKWARD", "FORWARD", "FULL")
"""Each has a transitive one, the same for two schemas."""
LANES = [
    pytest.param(name, is_by_record, id=f"{name}, by {'record' if is_by_record else 'column'}")
    for at, name in enumerate(CHANGES)
    for is_by_record in ((False, True) if IS_FULL_RUN else (at % 2 == 1,))
]
"""``make test`` takes the lanes in turn, ``make matrix`` both for each change."""
EACH = 24
"""Records in an interval."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apicurio_running(tmp_path_factory.mktemp("evolution-registry")) as address:
        yield address


@pytest.fixture(scope="module")
def registry(url: str) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": url})


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("evolution-postgres")) as server:
        yield server


def takes(registry: SchemaRegistryClient, subject: str, schema: Schema) -> bool:
    """Register a schema → whether the subject's mode lets it through."""
    try:
        registry.register_schema(subject, schema)
    except SchemaRegistryError as refusal:
        return bool(refusal.http_status_code != 409)
    return True


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_registry_takes_a_change_in_some_modes(change: Change, registry: SchemaRegistryClient) -> None:
    """So that the changes below are those that production's registries let through."""
    taken = set()
    for mode in (*MODES, *(f"{mode}_TRANSITIVE" for mode in MODES)):
        subject = f"{id(change)}-{mode}"
        registry.register_schema(subject, Schema(change.old, change.kind))
        registry.set_compatibility(subject, mode)
        if takes(registry, subject, Schema(change.new, change.kind)):
            taken.add(mode)
    assert taken == {*change.taken, *(f"{mode}_TRANSITIVE" for mode in change.taken)}


@pytest.fixture
def without_rules(url: str) -> Iterator[None]:
    """The registry's own mode is NONE: a subject's would be the registry's here."""
    rules = url.replace("/apis/ccompat/v7", "/apis/registry/v3/admin/rules")
    none = {"ruleType": "COMPATIBILITY", "config": "NONE"}
    httpx.post(rules, json=none).raise_for_status()
    yield
    httpx.delete(f"{rules}/COMPATIBILITY").raise_for_status()


@pytest.mark.usefixtures("without_rules")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_registry_takes_every_change_in_mode_none(change: Change, registry: SchemaRegistryClient) -> None:
    subject = f"{id(change)}-NONE"
    registry.register_schema(subject, Schema(change.old, change.kind))
    assert takes(registry, subject, Schema(change.new, change.kind))


@dataclass(frozen=True)
class Bench:
    """A topic with a registry, and where its records go."""

    topic: str
    url: str
    topics: Topics
    database: Cluster
    home: Path

    @property
    def table(self) -> str:
        return self.topic.replace("-", "_")

    def frames(self, change: Change) -> list[bytes]:
        """Register both schemas → the beginning of a message of each."""
        registry = SchemaRegistryClient({"url": self.url})
        ids = [
            # Each with a subject of its own: also what no mode of this registry takes is read by its id.
            registry.register_schema(f"{self.topic}-{at}", Schema(text, change.kind))
            for at, text in enumerate((change.old, change.new))
        ]
        return [b"\0" + id.to_bytes(4, "big") for id in ids]

    def exporting(self, config: Mapping[str, str], converter: str) -> ConnectorRuns:
        name = f"{config['connector.class']}-{self.topic}"
        common = {
            "name": name,
            "topics": self.topic,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": converter,
            "value.converter.schema.registry.url": self.url,
        }
        return ConnectorRuns(name, {**common, **config}, runner=ThreadRunner())

    def into_files(self) -> dict[str, str]:
        return {"connector.class": "FileSystemSink", "path": str(self.home)}

    def into_table(self) -> dict[str, str]:
        return {
            "connector.class": "JdbcSink",
            "connection.url": f"jdbc:postgresql://127.0.0.1:{self.database.port}/postgres",
            "connection.user": "postgres",
            "connection.password": "unused",
            "insert.mode": "upsert",
            "pk.mode": "record_value",
            "pk.fields": "id",
            "auto.create": "true",
            "auto.evolve": "true",
            "table.name.format": self.table,
        }

    def rows_of_files(self) -> list[Row]:
        files = sorted(file for file in self.home.rglob("*.parquet") if "_connect" not in file.parts)
        return complete([row for file in files for row in pq.ParquetFile(file).read().to_pylist()])

    def rows_of_table(self, names: Iterable[str]) -> list[Row]:
        with self.database.client() as client:
            found = client.execute(f"SELECT {', '.join(names)} FROM {self.table} ORDER BY id").fetchall()
        return [dict(zip(names, row, strict=True)) for row in found]


@pytest.fixture
def bench(
    stack: Stack,
    url: str,
    database: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(tmp_path)}.items():
        monkeypatch.setenv(variable, value)
    topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    return Bench(topics.create(1), url, topics, database, tmp_path / "files")


@pytest.mark.parametrize(("name", "is_by_record"), LANES)
def test_old_and_new_records_share_an_interval(
    name: str, is_by_record: bool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = CHANGES[name]
    plugin, converter = CONVERTERS[change.kind]
    if is_by_record:
        monkeypatch.setattr(converter, "to_connect_batch", lambda *_: None)
    frames, written = bench.frames(change), []
    with (
        bench.exporting({**bench.into_files(), **change.sink}, plugin) as files,
        bench.exporting(bench.into_table(), plugin) as table,
    ):
        # Each is a run of its own; the first begins with an old record, the second with a new one.
        for began in (0, EACH):
            share = [(number % 2 == (began == 0), number) for number in range(began, began + EACH)]
            messages = [frames[is_new] + change.body(is_new, number) for is_new, number in share]
            bench.topics.write(bench.topic, messages, 1)
            written += share
            assert files.run().records == EACH
            assert bench.rows_of_files() == complete([change.row(*one) for one in written])
            if change.refused is None:
                assert table.run().records == EACH
                wanted = complete([change.row(*one, in_table=True) for one in written])
                assert bench.rows_of_table(wanted[0]) == wanted
        if change.refused is not None:
            with pytest.raises(ConnectError, match=change.refused):
                table.run()


def complete(rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of their ids, with the columns of all; a missing one is null."""
    names = sorted({name for row in rows for name in row})
    return sorted(({name: row.get(name) for name in names} for row in rows), key=lambda row: row["id"])
