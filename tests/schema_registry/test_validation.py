"""Before a source is created, a real registry is asked whether its tables' schemas may be registered."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from connect_core.api.data import Schema, Struct
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from tests.connectors.jdbc.servers import Server, file_server

pytestmark = pytest.mark.servers

Registering = AvroConverter | JsonSchemaConverter | ProtobufConverter
SETTING = "auto.register.schemas"


@pytest.fixture
def table(tmp_path: Path) -> Server:
    server = file_server("sqlite", tmp_path)
    server.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)")
    return server


def written(server: Server, prefix: str) -> tuple[str, Schema]:
    """Return the table's topic, and the schema of its rows as it is now."""
    given = {**server.config, "mode": "bulk", "topic.prefix": prefix}
    ((topic, schemas),) = JdbcSourceConnector().written_schemas(given, server.limits).items()
    assert schemas.value is not None
    return topic, schemas.value


def write(converter: Registering, url: str, topic: str, schema: Schema) -> None:
    """Write a row, and so register its schema."""
    converter.configure({"schema.registry.url": url}, False)
    converter.from_connect_data(topic, schema, Struct.of_values(schema, (1, None)))
    converter.close()


def refused(kind: type[Registering], url: str, server: Server, prefix: str, **more: str) -> Mapping[str, Sequence[str]]:
    topic, schema = written(server, prefix)
    settings = {"schema.registry.url": url, **{name.replace("_", "."): value for name, value in more.items()}}
    return kind().validate_live(settings, False, {topic: schema})


@pytest.mark.parametrize("kind", [AvroConverter, JsonSchemaConverter, ProtobufConverter])
def test_a_table_that_changed_is_tried_before_it_is_written(
    kind: type[Registering], apicurio: str, table: Server
) -> None:
    prefix = f"{uuid.uuid4().hex}-"
    topic, schema = written(table, prefix)
    assert refused(kind, apicurio, table, prefix) == {}
    assert topic not in str(SchemaRegistryClient({"url": apicurio}).get_subjects()), "asking registers nothing"
    missing = refused(kind, apicurio, table, prefix, auto_register_schemas="false")
    assert f"set {SETTING}=true" in missing[SETTING][0]

    write(kind(), apicurio, topic, schema)
    assert refused(kind, apicurio, table, prefix) == {}
    assert refused(kind, apicurio, table, prefix, auto_register_schemas="false") == {}

    table.execute("DROP TABLE orders", "CREATE TABLE orders (id TEXT PRIMARY KEY, note TEXT, price REAL NOT NULL)")
    (error,) = refused(kind, apicurio, table, prefix)[SETTING]
    assert f"Topic {topic} cannot be written" in error
    assert f"newest version of subject {topic}-value" in error


def test_an_optional_column_may_be_added(apicurio: str, table: Server) -> None:
    prefix = f"{uuid.uuid4().hex}-"
    topic, schema = written(table, prefix)
    write(AvroConverter(), apicurio, topic, schema)
    table.execute("ALTER TABLE orders ADD COLUMN price REAL")
    assert refused(AvroConverter, apicurio, table, prefix) == {}
    table.execute("ALTER TABLE orders ADD COLUMN quantity INTEGER NOT NULL DEFAULT 1")
    assert list(refused(AvroConverter, apicurio, table, prefix)) == [SETTING]
