"""What Confluent's client for Python writes is read here, and what is written here is read by it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import wrappers_pb2
from google.rpc import error_details_pb2
from google.type import postal_address_pb2

from connect_core.api.data import INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, SchemaBuilder, Struct
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.schema_registry.model import SchemaKind, SchemaReference, SchemaText
from tests.converters.registered import with_memory
from tests.schema_registry.memory import MemoryRegistry

CONTEXT = SerializationContext("t", MessageField.VALUE)
ADDRESS = postal_address_pb2.PostalAddress(revision=7, region_code="CH", recipients=["Zoë", "x"])
INFO = error_details_pb2.ErrorInfo(reason="r", domain="d", metadata={"a": "1", "b": "2"})
QUOTA = error_details_pb2.QuotaFailure.Violation(subject="s", description="d")


@pytest.fixture
def client() -> SchemaRegistryClient:
    return SchemaRegistryClient.new_client({"url": "mock://"})


def _moved(client: SchemaRegistryClient, id: int, kind: SchemaKind) -> MemoryRegistry:
    """Return a registry with what theirs has, under the same ids."""
    registry = MemoryRegistry()
    for number in range(1, id + 1):
        schema = client.get_schema(number)
        references = tuple(SchemaReference(one.name, one.subject, one.version) for one in schema.references or ())
        registry.register(_subject(client, number), SchemaText(kind, schema.schema_str, references))
    return registry


def _subject(client: SchemaRegistryClient, id: int) -> str:
    return next(str(one) for one in client.get_subjects() if client.get_latest_version(one).schema_id == id)


@pytest.mark.parametrize("message", [ADDRESS, INFO, QUOTA, wrappers_pb2.StringValue(value="x")])
def test_their_protobuf_is_read(client: SchemaRegistryClient, message: Any) -> None:
    content = ProtobufSerializer(type(message), client, {"use.deprecated.format": False})(message, CONTEXT)
    assert content is not None
    registry = _moved(client, int.from_bytes(content[1:5], "big"), SchemaKind.PROTOBUF)
    found = with_memory(ProtobufConverter, registry).to_connect_data("t", content)
    if not isinstance(found.value, Struct):
        assert found.value == message.value
        return
    assert found.schema is not None
    assert found.schema.name == message.DESCRIPTOR.name
    unset = {one.name for one in message.DESCRIPTOR.fields if one.has_presence and not message.HasField(one.name)}
    names = [one.name for one in message.DESCRIPTOR.fields]
    wanted: dict[str, Any] = {name: None if name in unset else getattr(message, name) for name in names}
    plain = {name: dict(value) if name == "metadata" else value for name, value in wanted.items()}
    assert {field.name: found.value.get(field) for field in found.schema.fields} == plain


def test_our_protobuf_is_read_by_theirs(client: SchemaRegistryClient) -> None:
    schema = SchemaBuilder.struct().name("Address").field("revision", INT64_SCHEMA)
    schema.field("region_code", OPTIONAL_STRING_SCHEMA)
    row = Struct.of_values(schema.build(), [7, "CH"])
    converter = with_memory(ProtobufConverter)
    message = converter.from_connect_data("t", row.schema, row)
    theirs = ProtobufDeserializer(postal_address_pb2.PostalAddress, {"use.deprecated.format": False})
    assert theirs(message, CONTEXT) == postal_address_pb2.PostalAddress(revision=7, region_code="CH")
    text = converter.from_connect_data("t", STRING_SCHEMA, "x")
    unwrapped = ProtobufDeserializer(wrappers_pb2.StringValue, {"use.deprecated.format": False})
    assert unwrapped(text, CONTEXT) == wrappers_pb2.StringValue(value="x")


def test_json_is_read_both_ways(client: SchemaRegistryClient) -> None:
    node = {
        "title": "R",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}},
    }
    content = JSONSerializer(json.dumps(node), client)({"id": 5, "name": None}, CONTEXT)
    assert content is not None
    registry = _moved(client, int.from_bytes(content[1:5], "big"), SchemaKind.JSON)
    converter = with_memory(JsonSchemaConverter, registry)
    found = converter.to_connect_data("t", content)
    assert {field.name: found.value.get(field) for field in found.value.schema.fields} == {"id": 5, "name": None}
    ours = converter.from_connect_data("t", found.schema, found.value)
    assert ours is not None
    text = registry.by_id(int.from_bytes(ours[1:5], "big")).schema.text
    assert JSONDeserializer(text)(ours, CONTEXT) == {"id": 5, "name": None}
