"""Schemas named in headers: both lanes, all three languages, and Confluent's client for Python on the other side.

The registry is a stand-in: none that gives GUIDs is on a package registry. Left out: what a registry does with them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import (
    Schema as TheirSchema,
)
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import wrappers_pb2
from google.rpc import error_details_pb2

from connect_core.api.batch import Batch
from connect_core.api.convert import Converter
from connect_core.api.data import STRING_SCHEMA, SchemaBuilder, Struct
from connect_core.api.records import SourceRecord, TimestampType
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.converters.string import StringConverter
from connect_core.errors import ConfigError
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.task.conversion import Converters
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server
from tests.task.equipment import strings, tolerance

pytestmark = pytest.mark.slow

GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
FRAME = b"\1" + uuid.UUID(GUID).bytes
HEADER = "__value_schema_id"
IN_HEADER = {"value.schema.id.serializer": "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"}
ORDER = SchemaBuilder.struct().name("Order").field("id", STRING_SCHEMA).build()
CONVERTERS: tuple[type[Converter], ...] = (AvroConverter, JsonSchemaConverter, ProtobufConverter)


class ByRecords(StringConverter):
    """Text that is converted record by record, and with it the whole batch."""

    def from_connect_batch(self, *_: Any) -> None:
        return None

    def to_connect_batch(self, *_: Any) -> None:
        return None


@pytest.fixture
def registry() -> Iterator[FaultServer]:
    """Return a registry that has given one schema a number and a GUID."""
    with fault_server() as server:
        registered = Answer(body=json.dumps({"id": 7, "version": 1, "guid": GUID}).encode())
        server.answers["/subjects/t-value/versions?normalize=false"] = [registered]
        server.answers["/subjects/t-value/versions"] = [registered]
        yield server


def configured(kind: type[Converter], server: FaultServer, **settings: str) -> Converter:
    converter = kind()
    given = {"schema.registry.url": server.url, "max.retries": "0", "converter.type": "value"}
    converter.configure({**given, **{key.replace("_", "."): value for key, value in settings.items()}}, False)
    return converter


def with_value(converter: Converter, key: StringConverter | None = None) -> Converters:
    found = strings(tolerance())
    found.value = converter
    if key is not None:
        key.configure({}, True)
        found.key = key
    return found


def orders(*ids: str | None) -> Batch:
    values = [None if one is None else Struct.of_values(ORDER, [one]) for one in ids]
    records = [
        SourceRecord("t", value_schema=None if value is None else ORDER, value=value, source_partition={})
        for value in values
    ]
    return Batch.from_records([replace(one, source_offset={}) for one in records])


def raw(values: Sequence[bytes | None], headers: Sequence[RawHeaders]) -> RawBatch:
    numbers = range(len(values))
    return RawBatch(
        "t",
        pa.array([0] * len(values), pa.int32()),
        pa.array(numbers, pa.int64()),
        pa.array([1000] * len(values), pa.int64()),
        TimestampType.CREATE_TIME,
        pa.nulls(len(values), pa.binary()),
        pa.array(values, pa.binary()),
        headers,
    )


def know(server: FaultServer) -> None:
    """Let the registry tell by GUID what was registered."""
    body = next(json.loads(one) for one in server.bodies if one)
    server.answers[f"/schemas/guids/{GUID}"] = [Answer(body=json.dumps(body | {"id": 7}).encode())]


@pytest.mark.parametrize("kind", CONVERTERS)
@pytest.mark.parametrize("key", [None, ByRecords()])
def test_a_written_batch_is_read_back(
    kind: type[Converter], key: StringConverter | None, registry: FaultServer
) -> None:
    writer = with_value(configured(kind, registry, **IN_HEADER), key)
    found = writer.from_connect(orders("a", "b", None))
    assert found.headers is not None
    sizes = {len(value or b"") for one in found.headers for _, value in one}
    assert [[name for name, _ in one] for one in found.headers] == [[HEADER], [HEADER], []]
    # Protobuf's message indexes belong to the frame.
    assert sizes == {len(FRAME) + (1 if kind is ProtobufConverter else 0)}
    assert all((value or b"").startswith(FRAME) for one in found.headers for _, value in one)
    know(registry)
    reader = with_value(configured(kind, registry), key)
    batch = reader.to_connect(raw(found.values.to_pylist(), found.headers))
    values = [record.value for record in batch.to_records()]
    assert [value and value.get("id") for value in values] == ["a", "b", None]
    assert reader.fallbacks == (1 if key else 0)
    if kind is AvroConverter:
        assert found.values.to_pylist() == [b"\2a", b"\2b", None]


def test_lanes_are_equal(registry: FaultServer) -> None:
    batch = orders("a", None, "c")
    by_columns = with_value(configured(AvroConverter, registry, **IN_HEADER)).from_connect(batch)
    by_records = with_value(configured(AvroConverter, registry, **IN_HEADER), ByRecords()).from_connect(batch)
    assert by_columns.values.to_pylist() == by_records.values.to_pylist()
    assert [list(one) for one in by_columns.headers or ()] == [list(one) for one in by_records.headers or ()]
    one = with_value(configured(AvroConverter, registry, **IN_HEADER)).write(batch.to_records()[0])
    assert one == (None, b"\2a", [(HEADER, FRAME)])


def test_messages_with_a_header_and_with_a_prefix_share_a_batch(registry: FaultServer) -> None:
    prefixed = with_value(configured(AvroConverter, registry)).from_connect(orders("a")).values[0].as_py()
    assert prefixed == b"\0\0\0\0\7\2a"
    know(registry)
    registry.answers["/schemas/ids/7"] = registry.answers[f"/schemas/guids/{GUID}"]
    # The last header of a name counts, and of the message's own side alone.
    headers: list[RawHeaders] = [[("__key_schema_id", FRAME)], [(HEADER, b"old"), ("x", b"1"), (HEADER, FRAME)]]
    batch = with_value(configured(AvroConverter, registry)).to_connect(raw([prefixed, b"\2b"], headers))
    assert [record.value.get("id") for record in batch.to_records()] == ["a", "b"]
    assert [[one.key for one in record.headers] for record in batch.to_records()][1] == [HEADER, "x", HEADER]
    last = batch.to_records()[1].headers.last_with_name(HEADER)
    assert last is not None
    assert last.value == FRAME


def test_prefix_deserializer_does_not_look_at_headers(registry: FaultServer) -> None:
    reader = configured(AvroConverter, registry, **{"value.schema.id.deserializer": "PrefixSchemaIdDeserializer"})
    prefixed = with_value(configured(AvroConverter, registry)).from_connect(orders("a")).values[0].as_py()
    know(registry)
    registry.answers["/schemas/ids/7"] = registry.answers[f"/schemas/guids/{GUID}"]
    batch = with_value(reader).to_connect(raw([prefixed], [[(HEADER, b"\1rubbish")]]))
    assert batch.to_records()[0].value.get("id") == "a"


def test_a_registry_without_guids_is_named(registry: FaultServer) -> None:
    registry.answers["/subjects/t-value/versions"] = [Answer(body=b'{"id": 7}')]
    registry.answers["/schemas/ids/7?subject=t-value"] = [Answer(body=b'{"schema": "\\"int\\""}')]
    with pytest.raises(Exception, match=r"returned no GUID for schema 7.*ids before the messages"):
        with_value(configured(AvroConverter, registry, **IN_HEADER)).from_connect(orders("a"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("value.schema.id.serializer", "io.confluent.kafka.serializers.schema.id.ConfigSchemaIdSerializer"),
        ("value.schema.id.deserializer", "com.acme.OtherDeserializer"),
    ],
)
def test_other_classes_are_refused(registry: FaultServer, key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{key}.*there are"):
        configured(AvroConverter, registry, **{key: value})


def test_headers_are_of_the_confluent_codec_only(registry: FaultServer) -> None:
    with pytest.raises(ConfigError, match=r"schema\.id\.codec=confluent"):
        configured(AvroConverter, registry, **IN_HEADER, schema_id_codec="apicurio-content")


def test_their_avro_is_read_and_ours_by_them(registry: FaultServer) -> None:
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    text = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'
    context = SerializationContext("t", MessageField.VALUE, [])
    theirs = AvroSerializer(client, text, conf={"schema.id.serializer": header_schema_id_serializer})
    content = theirs({"id": "a"}, context)
    assert context.headers is not None
    guid = str(uuid.UUID(bytes=dict(context.headers)[HEADER][1:]))
    registry.answers[f"/schemas/guids/{guid}"] = [Answer(body=json.dumps({"schema": text, "id": 1}).encode())]
    batch = with_value(configured(AvroConverter, registry)).to_connect(raw([content], [context.headers]))
    assert batch.to_records()[0].value.get("id") == "a"

    writer = with_value(configured(AvroConverter, registry, **IN_HEADER))
    writer.from_connect(orders("b"))
    ours = next(json.loads(one)["schema"] for one in registry.bodies if one)
    client.register_schema("t-value", TheirSchema(ours, "AVRO"))
    known = client.lookup_schema("t-value", TheirSchema(ours, "AVRO")).guid
    answer = Answer(body=json.dumps({"id": 2, "version": 2, "guid": known}).encode())
    registry.answers["/subjects/t-value/versions"] = [answer]
    _, value, headers = with_value(configured(AvroConverter, registry, **IN_HEADER, max_retries="1")).write(
        # Their reader takes no message of fewer than 6 bytes, though its frame is elsewhere.
        orders("abcdef").to_records()[0]
    )
    read = AvroDeserializer(client)(value, SerializationContext("t", MessageField.VALUE, list(headers)))
    assert read == {"id": "abcdef"}


@pytest.mark.parametrize(
    "message", [wrappers_pb2.StringValue(value="x"), error_details_pb2.QuotaFailure.Violation(subject="s")]
)
def test_their_protobuf_is_read(registry: FaultServer, message: Any) -> None:
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    context = SerializationContext("t", MessageField.VALUE, [])
    settings = {"use.deprecated.format": False, "schema.id.serializer": header_schema_id_serializer}
    content = ProtobufSerializer(type(message), client, settings)(message, context)
    assert context.headers is not None
    frame = dict(context.headers)[HEADER]
    schema = client.get_schema_by_guid(str(uuid.UUID(bytes=frame[1:17])))
    assert not schema.references
    answer = {"schema": schema.schema_str, "schemaType": "PROTOBUF", "id": 1}
    registry.answers[f"/schemas/guids/{uuid.UUID(bytes=frame[1:17])}"] = [Answer(body=json.dumps(answer).encode())]
    batch = with_value(configured(ProtobufConverter, registry)).to_connect(raw([content], [context.headers]))
    found = batch.to_records()[0].value
    assert (found if isinstance(found, str) else found.get("subject")) == (
        message.value if isinstance(message, wrappers_pb2.StringValue) else "s"
    )
