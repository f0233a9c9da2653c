"""Several schemas of one subject: old and new messages side by side, and values written with another schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    SchemaBuilder,
    Struct,
)
from connect_core.converters.avro import AvroConverter
from connect_core.errors import DataError
from connect_core.schema_registry.model import RegisteredSchema, SchemaReference, SchemaText
from tests.converters.avro.making import frame_of, made, register
from tests.converters.lanes import write_by_batch, write_by_record
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.memory import MemoryRegistry

OLD = SchemaBuilder.struct().name("Order").field("id", INT32_SCHEMA).field("note", STRING_SCHEMA).build()
OLD_VALUE = Struct.of_values(OLD, [7, "hello"])


class Latest(PlainSchemas):
    """Writes with the newest schema of the subject, as ``use.latest.version``."""

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        found = self.registry.latest(f"{topic}-value")
        return frame_of(found.id), found


def written(*fields: Any, value: Struct = OLD_VALUE) -> list[bytes | None]:
    """Return a value of OLD as the registered schema of these fields has it, by both lanes."""
    registry = MemoryRegistry()
    register(registry, {"type": "record", "name": "Order", "fields": list(fields)})
    converter = AvroConverter(Latest(registry))
    converter.configure({}, False)
    by_record = write_by_record(converter, value.schema, [value, value])
    in_batch = write_by_batch(converter, value.schema, [value, value])
    assert in_batch in (by_record, None)
    if isinstance(by_record[0], type):
        converter.from_connect_data("t", value.schema, value)
    return [message and message[5:] for message in by_record]


ID, NOTE = {"name": "id", "type": "int"}, {"name": "note", "type": "string"}


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ([ID, NOTE], b"\x0e\x0ahello"),
        ([NOTE, ID], b"\x0ahello\x0e"),
        ([ID], b"\x0e"),
        ([ID, {"name": "more", "type": "string", "default": "x"}], b"\x0e\x02x"),
        ([ID, {"name": "more", "type": ["null", "string"], "default": None}], b"\x0e\0"),
        ([{"name": "id", "type": "long"}], b"\x0e"),
        ([{"name": "id", "type": "double"}], b"\0\0\0\0\0\0\x1c@"),
        ([{"name": "number", "type": "int", "aliases": ["id"]}], b"\x0e"),
        ([{"name": "id", "type": ["null", "long"]}], b"\2\x0e"),
        ([{"name": "id", "type": ["string", "int", "null"]}], b"\2\x0e"),
        ([{"name": "note", "type": {"type": "enum", "name": "E", "symbols": ["bye", "hello"]}}], b"\2"),
    ],
    ids=["same", "reordered", "removed", "added", "added null", "long", "double", "alias", "null", "union", "enum"],
)
def test_value_is_written_with_the_newest_schema(fields: list[Any], body: bytes) -> None:
    assert written(*fields) == [body, body]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([ID, {"name": "more", "type": "string"}], "requires the field more, which has no value and no default"),
        ([{"name": "id", "type": "string"}], "cannot be written as string"),
        ([{"name": "id", "type": ["null", "string"]}], "no branch of the union in the registered schema takes"),
        ([{"name": "note", "type": {"type": "enum", "name": "E", "symbols": ["bye"]}}], "'hello' is not a symbol"),
    ],
)
def test_value_that_the_newest_schema_does_not_take(fields: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        written(*fields)


def test_null_that_the_newest_schema_does_not_take() -> None:
    schema = SchemaBuilder.struct().name("Order").field("note", OPTIONAL_STRING_SCHEMA).build()
    with pytest.raises(DataError, match="Found null value for non-optional schema"):
        written(NOTE, value=Struct.of_values(schema, [None]))


def read(messages: Sequence[bytes | None], registry: MemoryRegistry) -> Columns | Objects | None:
    """Return what a batch means, after a look at the record lane."""
    converter = made(registry)
    found = converter.to_connect_batch(pa.array(["t"] * len(messages)), pa.array(messages, pa.binary()))
    assert found is not None
    objects = found.to_objects()
    for message, schema, value in zip(messages, objects.schemas, objects.values, strict=True):
        one = converter.to_connect_data("t", message)
        assert (one.schema, one.value) == (schema, value)
    return found


def test_old_and_new_messages_have_their_own_schemas() -> None:
    registry = MemoryRegistry()
    register(registry, {"type": "record", "name": "Order", "fields": [ID]})
    register(registry, {"type": "record", "name": "Order", "fields": [ID, NOTE]})
    old, new = frame_of(1) + b"\2", frame_of(2) + b"\4\2x"
    found = read([old, new, None, old, new], registry)
    assert isinstance(found, Objects)
    assert [None if one is None else list(one.values) for one in found.values] == [[1], [2, "x"], None, [1], [2, "x"]]


def test_schemas_that_mean_the_same_stay_columns() -> None:
    registry = MemoryRegistry()
    register(registry, {"type": "record", "name": "Order", "fields": [ID]})
    register(registry, {"type": "record", "name": "Order", "fields": [{"name": "id", "type": {"type": "int", "x": 1}}]})
    found = read([frame_of(1 + number % 2) + bytes([2 * number]) for number in range(9)], registry)
    assert isinstance(found, Columns)
    assert found.array.field(0).to_pylist() == list(range(9))


def test_references_are_resolved() -> None:
    registry = MemoryRegistry()
    address = {"type": "record", "name": "Address", "namespace": "a", "fields": [{"name": "street", "type": "string"}]}
    register(registry, address, "address")
    fields = [{"name": "home", "type": "a.Address"}, {"name": "work", "type": ["null", "a.Address"]}]
    order = {"type": "record", "name": "Order", "fields": fields}
    id = register(registry, order, references=[SchemaReference("a.Address", "address", 1)])
    found = read([frame_of(id) + b"\2x\0", frame_of(id) + b"\2x\2\2y"], registry)
    assert isinstance(found, Columns)
    assert found.array.field(1).to_pylist() == [None, {"street": "y"}]


def test_translated_schemas_are_bounded() -> None:
    registry = MemoryRegistry()
    converter = made(registry, schemas_cache_size="3")
    for number in range(10):
        schema = SchemaBuilder.struct().name(f"R{number}").field("id", INT64_SCHEMA).build()
        message = converter.from_connect_data("t", schema, Struct.of_values(schema, [number]))
        assert converter.to_connect_data("t", message).schema == schema
    codec = converter._codec
    assert [len(cache._entries) for cache in (codec._readable, codec._writable, codec._written)] == [3, 3, 3]
