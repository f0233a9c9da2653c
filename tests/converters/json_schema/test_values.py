"""Payloads under a registered JSON Schema, and what comes in instead of them."""

from __future__ import annotations

import decimal
import json
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Timestamp,
)
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.errors import DataError
from connect_core.schema_registry.model import SchemaKind
from tests.converters.registered import framed, register, with_memory, write_batch, written_schema
from tests.schema_registry.memory import MemoryRegistry

KIND = SchemaKind.JSON
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "connect.index": 0},
        "name": {"type": "string", "connect.index": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "connect.index": 2},
    },
}


def written(schema: Schema, value: Any, **settings: str) -> str:
    return written_schema(JsonSchemaConverter, schema, value, **settings)[1].decode()


def read(node: Any, payload: str | bytes, **settings: str) -> Any:
    registry = MemoryRegistry()
    id = register(registry, KIND, json.dumps(node))
    body = payload if isinstance(payload, bytes) else payload.encode()
    return with_memory(JsonSchemaConverter, registry, **settings).to_connect_data("t", framed(id, body))


def struct(**fields: Schema) -> Schema:
    builder = SchemaBuilder.struct()
    for name, schema in fields.items():
        builder.field(name, schema)
    return builder.build()


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (STRING_SCHEMA, "é😀", '"é\\uD83D\\uDE00"'),
        (BYTES_SCHEMA, b"\x00\xff", '"AP8="'),
        (FLOAT64_SCHEMA, 1e7, "1.0E7"),
        (FLOAT64_SCHEMA, float("nan"), '"NaN"'),
        (OPTIONAL_STRING_SCHEMA, None, "null"),
        (SchemaBuilder.string().default_value("d").build(), None, '"d"'),
        (Date.SCHEMA, Instant(86_400_000), "1"),
        (Timestamp.SCHEMA, Instant(5), "5"),
        (Decimal.schema(2), decimal.Decimal("1.50"), '"AJY="'),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(), {"a": 1}, '{"a":1}'),
        (SchemaBuilder.map(INT32_SCHEMA, OPTIONAL_STRING_SCHEMA).build(), {1: None}, '[{"key":1,"value":null}]'),
        (SchemaBuilder.array(INT32_SCHEMA).build(), [1, None], "[1,null]"),
    ],
)
def test_values_are_written(schema: Schema, value: Any, text: str) -> None:
    assert written(schema, value) == text


def test_numeric_decimals_keep_their_digits() -> None:
    assert written(Decimal.schema(2), decimal.Decimal("1.50"), decimal_format="Numeric") == "1.50"


def test_a_null_without_word_is_left_out() -> None:
    schema = struct(a=STRING_SCHEMA, b=OPTIONAL_STRING_SCHEMA, c=SchemaBuilder.int32().default_value(7).build())
    row = Struct.of_values(schema, [None, None, None])
    assert written(schema, row) == '{"b":null,"c":7}'
    assert with_memory(JsonSchemaConverter).from_connect_data("t", STRING_SCHEMA, None) is None


def test_defaults_can_be_ignored() -> None:
    schema = struct(c=SchemaBuilder.int32().optional().default_value(7).build())
    assert written(schema, Struct(schema), ignore_default_for_nullables="true") == '{"c":null}'


def test_data_without_schema_is_refused() -> None:
    converter = with_memory(JsonSchemaConverter)
    with pytest.raises(DataError, match="only write data with a schema"):
        converter.from_connect_data("t", None, {"a": 1})
    assert converter.from_connect_batch(pa.array(["t"]), Objects([None], [{"a": 1}])) is None


@pytest.mark.parametrize(
    ("node", "payload", "value"),
    [
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, '"no number"', 0),
        ({"type": "string"}, "5", None),
        ({"type": "boolean"}, "1", False),
        ({"type": "string", "default": "d"}, "null", "d"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, '{"x":1}', [1]),
        ({"type": "array", "items": {"type": "integer"}}, "5", []),
        ({"type": "object", "connect.type": "map", "additionalProperties": {"type": "integer"}}, '{"a":1}', {"a": 1}),
        ({"enum": ["a", "b"]}, '"c"', "c"),
        ({"type": "integer"}, "\ufeff12 trailing", 12),
    ],
)
def test_payloads_are_read_as_leniently_as_by_jackson(node: Any, payload: str, value: Any) -> None:
    assert read(node, payload).value == value


def test_a_missing_member_leaves_even_a_required_field_null() -> None:
    assert read(ORDER, '{"id":5,"more":1}').value.values == [5, None, None]


@pytest.mark.parametrize(
    ("node", "payload", "field", "value"),
    [
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, '"x"', 0, "x"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "5", 1, 5),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "5.5", 1, 5.5),
        ({"oneOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]}, "[1]", 1, [1]),
    ],
)
def test_a_union_takes_the_field_that_fits(node: Any, payload: str, field: int, value: Any) -> None:
    found = read(node, payload).value
    assert [one for one in found.values if one is not None] == [value]
    assert found.values[field] == value


def test_a_union_of_structs_takes_the_one_with_most_members() -> None:
    members = [{name: {"type": "integer"} for name in names} for names in ("ab", "abc", "x")]
    parts = [{"type": "object", "properties": properties} for properties in members]
    assert read({"oneOf": parts}, '{"a":1,"c":2,"b":3}').value.values[1].get("c") == 2
    with pytest.raises(DataError, match="matching oneof"):
        read({"oneOf": parts}, '{"y":1}')


@pytest.mark.parametrize("generalized", ["true", "false"])
def test_unions_round_trip(generalized: str) -> None:
    registry = MemoryRegistry()
    node = {
        "type": "object",
        "properties": {"u": {"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "integer"}]}},
    }
    id = register(registry, KIND, json.dumps(node))
    converter = with_memory(JsonSchemaConverter, registry, generalized_sum_type_support=generalized)
    for body in (b'{"u":"x"}', b'{"u":7}', b'{"u":null}'):
        meaning = converter.to_connect_data("t", framed(id, body))
        again = converter.from_connect_data("t", meaning.schema, meaning.value)
        assert again is not None
        assert again[5:] == body


@pytest.mark.parametrize(
    ("node", "payload", "message"),
    [
        (ORDER, "[]", "Structs should be encoded"),
        (ORDER, "", "but found MISSING"),
        (ORDER, '{"id":', "serialization error"),
        (ORDER, b"\xff\xfe\xff", "serialization error"),
        (ORDER, "[" * 5000, "serialization error"),
        (ORDER, '{"id":null}', "Invalid null value"),
        (ORDER, '{"tags":[null]}', "Invalid null value"),
        (ORDER, '{"tags":[5]}', "null used for required"),
        ({"type": "string", "connect.type": "bytes"}, '"?"', "Invalid bytes"),
        ({"type": "string", "connect.type": "bytes"}, "5", "encoded as JSON strings"),
        (
            {"type": "object", "connect.type": "map", "additionalProperties": {"type": "string"}},
            "[]",
            "Maps with string",
        ),
        ({"type": "integer", "title": Date.LOGICAL_NAME, "connect.type": "int32"}, '"x"', "Invalid type for Date"),
    ],
)
def test_bad_payloads_are_data_errors(node: Any, payload: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(node, payload)


@pytest.mark.parametrize(
    "message", [b"", b"\0", b"\0\0\0\0", b"\1\0\0\0\1{}", b"\0\0\0\0\x09{}", b"\0\xff\xff\xff\xff{}"]
)
def test_bad_frames_are_data_errors(message: bytes) -> None:
    registry = MemoryRegistry()
    register(registry, KIND, json.dumps(ORDER))
    converter = with_memory(JsonSchemaConverter, registry)
    with pytest.raises(DataError):
        converter.to_connect_data("t", message)
    assert converter.to_connect_batch(pa.array(["t"]), pa.array([message], pa.binary())) is None


def test_a_schema_of_another_language_is_a_data_error() -> None:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.AVRO, '"string"')
    with pytest.raises(DataError, match=f"JSON Schema {id} cannot be read as Connect's: it is of type AVRO"):
        with_memory(JsonSchemaConverter, registry).to_connect_data("t", framed(id, b'"x"'))


def test_messages_are_checked_if_asked() -> None:
    node = {"type": "object", "properties": {"id": {"type": "integer", "minimum": 5}}, "required": ["id"]}
    assert read(node, '{"id":5}', json_fail_invalid_schema="true").value.values == [5]
    for payload in ('{"id":4}', "{}", '{"id":"5"}'):
        assert read(node, payload, json_fail_invalid_schema="false").value is not None
        with pytest.raises(DataError, match="does not match its JSON Schema"):
            read(node, payload, json_fail_invalid_schema="true")


@pytest.mark.parametrize("keyword", [{"minimum": "x"}, {"pattern": "("}, {"maxLength": -1}])
def test_messages_cannot_be_checked_against_a_bad_schema(keyword: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="cannot be checked"):
        read({"type": ["string", "integer"], **keyword}, '"x"', json_fail_invalid_schema="true")


def test_references_to_other_subjects_are_read() -> None:
    registry = MemoryRegistry()
    register(registry, KIND, json.dumps({"type": "integer"}), "number")
    node = {"type": "array", "items": {"$ref": "number.json"}}
    id = register(registry, KIND, json.dumps(node), number__json="number")
    converter = with_memory(JsonSchemaConverter, registry, json_fail_invalid_schema="true")
    assert converter.to_connect_data("t", framed(id, b"[1,2]")).value == [1, 2]


def test_a_batch_of_one_schema_becomes_columns_and_of_several_objects() -> None:
    registry = MemoryRegistry()
    one = register(registry, KIND, json.dumps(ORDER))
    two = register(registry, KIND, json.dumps({"type": "integer"}))
    converter = with_memory(JsonSchemaConverter, registry)
    rows = [framed(one, b'{"id":%d,"name":"x","tags":["a"]}' % number) for number in range(5)]
    columns = converter.to_connect_batch(pa.array(["t"] * 5), pa.array(rows, pa.binary()))
    assert isinstance(columns, Columns)
    assert columns.array.field("id").to_pylist() == [0, 1, 2, 3, 4]
    mixed = converter.to_connect_batch(pa.array(["t"] * 3), pa.array([rows[0], None, framed(two, b"7")], pa.binary()))
    assert isinstance(mixed, Objects)
    assert [value if row else value.values for row, value in enumerate(mixed.values)] == [[0, "x", ["a"]], None, 7]
    assert mixed.schemas[1] is None


def test_each_topic_of_a_batch_has_its_own_subject() -> None:
    registry = MemoryRegistry()
    converter = with_memory(JsonSchemaConverter, registry)
    found = write_batch(converter, ["a", "b", "a"], BOOLEAN_SCHEMA, [True, False, True])
    assert found == [framed(1, b"true"), framed(1, b"false"), framed(1, b"true")]
    assert registry.latest("a-value").id == registry.latest("b-value").id == 1


def test_columns_are_written_with_maps_nulls_and_frames() -> None:
    schema = struct(
        a=OPTIONAL_INT64_SCHEMA, m=SchemaBuilder.map(INT64_SCHEMA, STRING_SCHEMA).build(), s=Schema(SchemaType.STRING)
    )
    rows = [Struct.of_values(schema, [None, {1: "x", 2: "y"}, '"']), Struct.of_values(schema, [5, {}, ""])]
    converter = with_memory(JsonSchemaConverter)
    assert write_batch(converter, ["t", "t"], schema, rows) == [
        framed(1, b'{"a":null,"m":[{"key":1,"value":"x"},{"key":2,"value":"y"}],"s":"\\""}'),
        framed(1, b'{"a":5,"m":[],"s":""}'),
    ]
