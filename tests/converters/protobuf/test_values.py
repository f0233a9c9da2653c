"""Protobuf's messages and the data they stand for, and what comes in instead of them."""

from __future__ import annotations

import decimal
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Time,
    Timestamp,
)
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.errors import DataError
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText
from tests.converters.registered import framed, register, with_memory, write_batch, written_schema
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

DAY = 86_400_000
ENUM = {"io.confluent.connect.protobuf.Enum": "E", "io.confluent.connect.protobuf.Enum.A": "0"}
ALL = """syntax = "proto3";
import "google/protobuf/timestamp.proto"; import "google/type/date.proto"; import "google/type/timeofday.proto";
import "confluent/type/decimal.proto"; import "confluent/meta.proto"; import "google/protobuf/wrappers.proto";
message R {
  uint64 big = 1; sint32 small = 2; E enum = 3; repeated E enums = 4; map<string, M> messages = 5;
  google.protobuf.Timestamp at = 6; google.type.Date day = 7; google.type.TimeOfDay clock = 8;
  confluent.type.Decimal price = 9 [(confluent.field_meta) = {params: [{key: "scale", value: "2"}]}];
  optional int32 maybe = 10; M message = 11; google.protobuf.StringValue text = 12; bytes raw = 13; float half = 14;
  oneof choice { string a = 20; M b = 21; }
}
message M { int32 x = 1; }
enum E { A = 0; B = 1; }
"""


def struct(name: str | None = None, **fields: Schema) -> Schema:
    builder = SchemaBuilder.struct().name(name)
    for field, schema in fields.items():
        builder.field(field, schema)
    return builder.build()


def body_of(schema: Schema, value: Any, **settings: str) -> bytes:
    return written_schema(ProtobufConverter, schema, value, **settings)[1]


def read(text: str, body: bytes, **settings: str) -> Any:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    converter = with_memory(ProtobufConverter, registry, **settings)
    message = framed(id, b"\0" + body)
    value = converter.to_connect_data("t", message).value
    batch = converter.to_connect_batch(pa.array(["t"] * 2), pa.array([message] * 2, pa.binary()))
    assert batch is not None
    assert batch.to_objects().values == [value, value]
    return value


@pytest.mark.parametrize(
    ("schema", "value", "body"),
    [
        (STRING_SCHEMA, "é", b"\x02\x0e\x0a\x02\xc3\xa9"),
        (FLOAT64_SCHEMA, 0.0, b"\0"),
        (FLOAT64_SCHEMA, -0.0, b"\0\x09" + b"\0" * 7 + b"\x80"),
        (INT64_SCHEMA, 300, b"\x02\x04\x08\xac\x02"),
        (Schema(SchemaType.INT8), -1, b"\x02\x08\x08" + b"\xff" * 9 + b"\x01"),
        (BYTES_SCHEMA, b"\xff", b"\x02\x10\x0a\x01\xff"),
    ],
)
def test_scalars_are_wrapper_messages(schema: Schema, value: Any, body: bytes) -> None:
    """The indexes say which of Google's wrappers it is: the first one in short, DoubleValue."""
    registry = MemoryRegistry()
    converter = with_memory(ProtobufConverter, registry)
    message = converter.from_connect_data("t", schema, value)
    assert message == framed(1, body)
    meaning = converter.to_connect_data("t", message)
    wide = {SchemaType.INT8: INT32_SCHEMA}.get(schema.type, schema)
    assert (meaning.schema, meaning.value) == (wide, value)
    assert registry.by_id(1).schema.text.startswith('syntax = "proto3";\npackage google.protobuf;\n')


def test_structs_are_written_by_number() -> None:
    schema = struct(
        "R",
        b=STRING_SCHEMA.replace(parameters={"io.confluent.connect.protobuf.Tag": "2"}),
        a=INT32_SCHEMA.replace(parameters={"io.confluent.connect.protobuf.Tag": "1"}),
    )
    assert body_of(schema, Struct.of_values(schema, ["x", 5])) == b"\0\x08\x05\x12\x01x"


@pytest.mark.parametrize(
    ("schema", "value", "body"),
    [
        (Timestamp.SCHEMA, Instant(-1), b"\x08" + b"\xff" * 9 + b"\x01\x10\xc0\x8f\xae\xdc\x03"),
        (Date.SCHEMA, Instant(19_723 * DAY), b"\x08\xe8\x0f\x10\x01\x18\x01"),
        (Time.SCHEMA, Instant(3_661_001), b"\x08\x01\x10\x01\x18\x01\x20\xc0\x84\x3d"),
        (Decimal.schema(2), decimal.Decimal("-1.50"), b"\x0a\x02\xff\x6a\x10\x03\x18\x02"),
    ],
)
def test_logical_values_are_messages(schema: Schema, value: Any, body: bytes) -> None:
    row = struct("R", x=schema)
    written = body_of(row, Struct.of_values(row, [value]))
    assert written == b"\0\x0a" + bytes([len(body)]) + body


def test_nulls_and_defaults() -> None:
    schema = struct("R", a=SchemaBuilder.int32().optional().default_value(7).build(), b=OPTIONAL_STRING_SCHEMA)
    row = Struct.of_values(schema, [None, None])
    assert body_of(schema, row) == b"\0\x08\x07"
    assert body_of(schema, row, ignore_default_for_nullables="true") == b"\0"
    wrapped = Struct.of_values(schema, [None, ""])
    assert body_of(schema, wrapped, ignore_default_for_nullables="true", wrapper_for_nullables="true") == b"\0\x12\0"
    assert body_of(schema, wrapped, ignore_default_for_nullables="true", optional_for_nullables="true") == b"\0\x12\0"


def test_every_kind_of_field_is_read() -> None:
    body = (
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x03\x18\x07\x22\x03\x00\x01\x05"
        b"\x2a\x07\x0a\x01k\x12\x02\x08\x04\x2a\x03\x0a\x01l\x32\x04\x08\x01\x10\x01\x3a\x07\x08\xe8\x0f\x10\x01\x18\x01"
        b"\x42\x02\x08\x01\x4a\x07\x0a\x01\x05\x10\x01\x18\x02\x50\x00\x62\x00\x6a\x01\xff\x75\x00\x00\x00\x3f\xaa\x01\x02\x08\x09"
    )
    value = read(ALL, body)
    found = {field.name: item for field, item in zip(value.schema.fields, value.values, strict=True)}
    assert found.pop("choice_0").values[1].values == [9]
    assert {name: item.values for name, item in found.pop("messages").items()} == {"k": [4], "l": [0]}
    assert found.pop("text").values == [""]
    assert found == {
        "big": -1,
        "small": -2,
        "enum": "UNKNOWN_ENUM_VALUE_E_7",
        "enums": ["A", "B", "UNKNOWN_ENUM_VALUE_E_5"],
        "at": Instant(1000),
        "day": Instant(19_723 * DAY),
        "clock": Instant(3_600_000),
        "price": decimal.Decimal("0.05"),
        "maybe": 0,
        "message": None,
        "raw": b"\xff",
        "half": 0.5,
    }


def test_what_is_not_set_is_a_default_or_a_null() -> None:
    value = read(ALL, b"")
    defaults = {"big": 0, "small": 0, "enum": "A", "enums": [], "messages": {}, "raw": b"", "half": 0.0}
    assert {field.name: value.get(field) for field in value.schema.fields if value.get(field) is not None} == defaults
    assert read(ALL, b"", int_for_enums="true").get("enum") == 0
    filled = read(
        'syntax = "proto3"; message R { M m = 1; } message M { int32 x = 1; }', b"", generate_struct_for_nulls="true"
    )
    assert filled.get("m").values == [0]


def test_optional_fields_of_proto2_are_null_unless_set() -> None:
    text = "message R { optional int32 a = 1 [default = 7]; optional string b = 2; }"
    assert read(text, b"").values == [None, None]
    assert read(text, b"", optional_for_proto2="false").values == [7, ""]
    assert read(text, b"\x12\x01\xff").values == [None, "\ufffd"]


def test_decimals_are_rounded_to_their_precision() -> None:
    assert read(ALL, b"\x4a\x08\x0a\x02\x04\xd2\x10\x02\x18\x02").get("price") == decimal.Decimal("12")


def test_the_wire_may_be_unusual() -> None:
    """Fields in another order, twice, unknown ones, and repeated numbers one by one."""
    text = 'syntax = "proto3"; message R { int32 a = 1; repeated int32 b = 2; map<int32, int32> c = 3; }'
    assert read(text, b"\x12\x01\x05\x08\x01").values == [1, [5], {}]
    assert read(text, b"\x08\x01\x08\x02").values == [2, [], {}]
    assert read(text, b"\x08\x01\x78\x05").values == [1, [], {}]
    assert read(text, b"\x10\x05\x10\x06").values == [0, [5, 6], {}]
    assert read(text, b"\x10\x05\x12\x01\x06").values == [0, [5, 6], {}]
    assert read(text, b"\x1a\x04\x08\x01\x10\x02\x1a\x04\x08\x01\x10\x03").values == [0, [], {1: 3}]
    assert read(text, b"\x08\x81\x00").values == [1, [], {}]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x01",
        b"\x06\x00",
        b"\x7f",
        b"\xff\xff\xff\xff\xff\xff",
        b"\x02\x04",
        b"\x04\x00\x00",
        b"\x00\x08",
        b"\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x00\x12\x05\x01",
        b"\x00\xa2\x01\x01\xff",
        b"\x00" + b"\x0b" * 200,
        b"\x00\x3a\x02\x10\x0d",
        b"\x00\x42\x02\x08\x18",
        b"\x00\x4a\x00",
        b"\x00\x32\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40",
    ],
)
def test_bad_messages_are_data_errors(body: bytes) -> None:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, ALL.replace("message M {", "message M { string s = 2; "))
    converter = with_memory(ProtobufConverter, registry)
    with pytest.raises(DataError):
        converter.to_connect_data("t", framed(id, body))
    assert converter.to_connect_batch(pa.array(["t"]), pa.array([framed(id, body)], pa.binary())) is None


def test_a_deep_message_is_a_data_error() -> None:
    text = 'syntax = "proto3"; message R { repeated E e = 1; } message E { google.protobuf.Struct s = 1; }'
    text = text.replace("message R", 'import "google/protobuf/struct.proto"; message R')
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    with pytest.raises(DataError, match="recursive"):
        with_memory(ProtobufConverter, registry).to_connect_data("t", framed(id, b"\0"))


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (struct("R", a=SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).build()), [["x", None]]),
        (struct("R", a=Timestamp.SCHEMA), [Instant(1 << 62)]),
        (struct("R", a=Date.SCHEMA), [Instant(-(1 << 30) * DAY)]),
        (struct("R", a=STRING_SCHEMA), [5]),
        (struct("R", a=INT32_SCHEMA), [1 << 40]),
        (struct("R", a=STRING_SCHEMA), ["\ud800"]),
        (struct("R", a=STRING_SCHEMA.replace(name="E", parameters=ENUM)), ["B"]),
        (struct("R", a=SchemaBuilder.array(SchemaBuilder.map(STRING_SCHEMA, STRING_SCHEMA)).build()), [[{"a": "b"}]]),
    ],
)
def test_values_that_do_not_fit_are_data_errors(schema: Schema, values: list[Any]) -> None:
    converter = with_memory(ProtobufConverter)
    row = Struct.of_values(schema, values)
    with pytest.raises(DataError):
        converter.from_connect_data("t", schema, row)
    assert converter.from_connect_batch(pa.array(["t"]), Objects([schema], [row])) is None


def test_data_without_schema_is_refused() -> None:
    converter = with_memory(ProtobufConverter)
    with pytest.raises(DataError, match="only write data with a schema"):
        converter.from_connect_data("t", None, "x")
    assert converter.from_connect_data("t", INT32_SCHEMA, None) is None


class Newest(PlainSchemas):
    """A registry's settings that name another schema than the one given, as use.latest.version does."""

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        assert record_name == "a.b.R"
        return b"\0\0\0\0\x01", self.registry.by_id(1)


def test_indexes_are_those_of_the_schema_that_is_named() -> None:
    registry = MemoryRegistry()
    register(registry, SchemaKind.PROTOBUF, 'syntax = "proto3"; package a.b; message Q {} message R { int32 x = 1; }')
    converter = ProtobufConverter(Newest(registry))
    converter.configure({}, False)
    schema = struct("a.b.R", x=OPTIONAL_INT32_SCHEMA)
    row = Struct.of_values(schema, [5])
    assert converter.from_connect_data("t", schema, row) == framed(1, b"\x02\x02\x08\x05")
    assert write_batch(converter, ["t", "u"], schema, [row, None]) == [framed(1, b"\x02\x02\x08\x05"), None]


def test_batches_of_several_schemas_and_nulls_become_objects() -> None:
    registry = MemoryRegistry()
    one = register(
        registry, SchemaKind.PROTOBUF, 'syntax = "proto3"; message R { int32 x = 1; } message S { bool y = 1; }'
    )
    two = register(registry, SchemaKind.PROTOBUF, 'syntax = "proto3"; message R { string x = 1; }')
    converter = with_memory(ProtobufConverter, registry)

    def batch(*messages: bytes | None) -> Columns | Objects | None:
        return converter.to_connect_batch(pa.array(["t"] * len(messages)), pa.array(messages, pa.binary()))

    same = batch(framed(one, b"\0\x08\x01"), framed(one, b"\0"))
    assert isinstance(same, Columns)
    assert same.array.field("x").to_pylist() == [1, 0]
    mixed = batch(framed(one, b"\0\x08\x01"), None, framed(two, b"\0\x0a\x01a"), framed(one, b"\x02\x02\x08\x01"))
    assert isinstance(mixed, Objects)
    assert [value and value.values for value in mixed.values] == [[1], None, ["a"], [True]]
    assert [schema and schema.name for schema in mixed.schemas] == ["R", None, "R", "S"]
    assert isinstance(batch(framed(one, b"\0"), framed(one, b"\x02\x02")), Objects)


def test_empty_batches_are_written_and_read() -> None:
    converter = with_memory(ProtobufConverter)
    nothing = pa.array([], pa.string())
    written = converter.from_connect_batch(nothing, Objects([], []))
    assert written is not None
    assert len(written) == 0
    found = converter.to_connect_batch(nothing, pa.array([], pa.binary()))
    assert found is not None
    assert len(found) == 0


def test_floats_and_booleans_survive() -> None:
    schema = struct("R", f=FLOAT32_SCHEMA, b=BOOLEAN_SCHEMA)
    converter = with_memory(ProtobufConverter)
    message = converter.from_connect_data("t", schema, Struct.of_values(schema, [float("inf"), True]))
    assert converter.to_connect_data("t", message).value.values == [float("inf"), True]
