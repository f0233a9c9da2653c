"""Connect's schemas as .proto texts and back, as Confluent's converter has them."""

from __future__ import annotations

from typing import Any

import pytest

from connect_core.api.data import (
    BYTES_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Time,
    Timestamp,
)
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.errors import DataError
from connect_core.schema_registry.model import SchemaKind, SchemaReference, SchemaText
from tests.converters.registered import framed, register, with_memory, written_schema
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

NAMES = "io.confluent.connect.protobuf."
TAG = f"{NAMES}Tag"


def struct(name: str | None = None, **fields: Schema) -> Schema:
    builder = SchemaBuilder.struct().name(name)
    for field, schema in fields.items():
        builder.field(field, schema)
    return builder.build()


def optional(schema: Schema, tag: int | None = None, **parameters: str) -> Schema:
    own = {f"{NAMES}{name}": value for name, value in parameters.items()}
    tags = {} if tag is None else {TAG: str(tag)}
    return schema.replace(optional=True, parameters={**(schema.parameters or {}), **own, **tags} or None)


def text_of(schema: Schema, value: Any, **settings: str) -> str:
    return written_schema(ProtobufConverter, schema, value, **settings)[0]


def schema_of(text: str, body: bytes = b"\0", /, **settings: str) -> Schema:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    found = with_memory(ProtobufConverter, registry, **settings).to_connect_data("t", framed(id, body)).schema
    assert found is not None
    return found


PLACE = struct(None, city=OPTIONAL_STRING_SCHEMA)
ORDER = struct(
    "shop.orders.Order",
    id=INT64_SCHEMA,
    price=Decimal.builder(2).parameter("connect.decimal.precision", "9").build(),
    day=Date.SCHEMA,
    at=Timestamp.SCHEMA,
    clock=Time.SCHEMA,
    small=Schema(SchemaType.INT8),
    names=SchemaBuilder.array(STRING_SCHEMA).build(),
    counts=SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(),
    my_map=SchemaBuilder.map(STRING_SCHEMA, PLACE).name("my_map").build(),
    place=PLACE,
)
ORDER_TEXT = """syntax = "proto3";
package shop.orders;

import "confluent/type/decimal.proto";
import "google/type/date.proto";
import "google/protobuf/timestamp.proto";
import "google/type/timeofday.proto";

message Order {
  int64 id = 1;
  confluent.type.Decimal price = 2 [(confluent.field_meta) = {
    params: [
      {
        value: "9",
        key: "precision"
      },
      {
        value: "2",
        key: "scale"
      }
    ]
  }];
  google.type.Date day = 3;
  google.protobuf.Timestamp at = 4;
  google.type.TimeOfDay clock = 5;
  int32 small = 6 [(confluent.field_meta) = {
    params: [
      {
        key: "connect.type",
        value: "int8"
      }
    ]
  }];
  repeated string names = 7;
  repeated ConnectDefault1Entry counts = 8;
  repeated MyMapEntry my_map = 9;
  ConnectDefault3 place = 10;

  message ConnectDefault1Entry {
    string key = 1;
    int32 value = 2;
  }
  message MyMapEntry {
    string key = 1;
    ConnectDefault2 value = 2;
  
    message ConnectDefault2 {
      string city = 1;
    }
  }
  message ConnectDefault3 {
    string city = 1;
  }
}
"""


def test_a_schema_is_written_to_the_letter() -> None:
    """Blanks in empty lines included, as in what Confluent's converter registers."""
    row = Struct.of_values(ORDER, [None] * len(ORDER.fields))
    assert text_of(ORDER, row) == ORDER_TEXT


def test_what_was_written_can_be_read_and_written_again() -> None:
    schema = schema_of(ORDER_TEXT, enhanced_protobuf_schema_support="true")
    assert [field.name for field in schema.fields] == [field.name for field in ORDER.fields]
    price, small, counts = (schema.fields[place].schema for place in (1, 5, 7))
    assert price == optional(ORDER.fields[1].schema, 2)
    assert small == optional(Schema(SchemaType.INT8), 6)
    assert counts.name == "shop.orders.Order.connect_default1"
    assert text_of(schema, _empty(schema), enhanced_protobuf_schema_support="true").replace(
        "ConnectDefault1Entry", "?"
    ) == ORDER_TEXT.replace("ConnectDefault1Entry", "?")


def _empty(schema: Schema) -> Any:
    return Struct.of_values(schema, [None] * len(schema.fields))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "message R {\n  string a = 1;\n  int64 b = 2;\n}\n"),
        (
            {"wrapper_for_nullables": "true"},
            'import "google/protobuf/wrappers.proto";\n\n'
            "message R {\n  google.protobuf.StringValue a = 1;\n  int64 b = 2;\n}\n",
        ),
        ({"optional_for_nullables": "true"}, "message R {\n  optional string a = 1;\n  int64 b = 2;\n}\n"),
    ],
)
def test_nulls_have_a_form_only_if_asked(settings: dict[str, str], text: str) -> None:
    schema = struct("R", a=OPTIONAL_STRING_SCHEMA, b=INT64_SCHEMA)
    assert text_of(schema, _empty(schema), **settings) == f'syntax = "proto3";\n\n{text}'
    known = schema_of(f'syntax = "proto3";\n\n{text}', **settings)
    assert [field.schema.optional for field in known.fields] == [True, not settings]


@pytest.mark.parametrize(
    ("type", "schema", "name"),
    [
        ("int32", INT32_SCHEMA, None),
        ("sint32", INT32_SCHEMA, "sint32"),
        ("uint32", INT64_SCHEMA, "uint32"),
        ("fixed64", INT64_SCHEMA, "fixed64"),
        ("int64", INT64_SCHEMA, None),
        ("double", FLOAT64_SCHEMA, None),
        ("bytes", BYTES_SCHEMA, None),
    ],
)
def test_scalars_keep_their_type(type: str, schema: Schema, name: str | None) -> None:
    text = f'syntax = "proto3";\n\nmessage R {{\n  {type} x = 7;\n}}\n'
    found = schema_of(text)
    parameters = {} if name is None else {"Type": name}
    assert found == struct("R", x=optional(schema, 7, **parameters))
    assert text_of(found, _empty(found)) == text


def test_oneofs_are_structs_of_which_one_field_is_set() -> None:
    members = "    string a = 3;\n    int32 b = 4;\n"
    text = f'syntax = "proto3";\n\nmessage R {{\n  bool last = 9;\n\n  oneof choice {{\n{members}  }}\n}}\n'
    a, b = optional(STRING_SCHEMA, 3), optional(INT32_SCHEMA, 4)
    union = struct(f"{NAMES}Union.choice", a=a, b=b).replace(optional=True)
    last = optional(Schema(SchemaType.BOOLEAN), 9)
    found = schema_of(text)
    assert found == struct("R", choice_0=union, last=last)
    assert text_of(found, _empty(found)) == text
    assert schema_of(text, generate_index_for_unions="false") == struct("R", choice=union, last=last)
    assert schema_of(text, flatten_unions="true") == struct("R", a=a, b=b, last=last)
    general = union.replace(name="choice", parameters={"org.apache.kafka.connect.data.Union": "choice"})
    assert schema_of(text, generalized_sum_type_support="true") == struct("R", choice_0=general, last=last)


def test_enums_are_texts_or_numbers() -> None:
    text = 'syntax = "proto3";\n\nmessage R {\n  Color c = 1;\n\n  enum Color {\n    RED = 0;\n    BLUE = 5;\n  }\n}\n'
    found = schema_of(text)
    values = {"Enum": "Color", "Enum.RED": "0", "Enum.BLUE": "5"}
    assert found == struct("R", c=optional(STRING_SCHEMA.replace(name="Color"), 1, **values))
    assert text_of(found, _empty(found)) == text
    numbers = schema_of(text, int_for_enums="true")
    assert numbers == struct("R", c=optional(INT32_SCHEMA.replace(name="Color"), 1, **values))
    assert text_of(numbers, _empty(numbers), int_for_enums="true") == text


def test_wrappers_are_structs_unless_they_stand_for_nulls() -> None:
    text = 'syntax = "proto3"; import "google/protobuf/wrappers.proto";'
    text += "message R { google.protobuf.Int32Value x = 1; int32 y = 2; }"
    value = optional(INT32_SCHEMA, 1)
    assert schema_of(text) == struct("R", x=optional(struct("Int32Value", value=value), 1), y=optional(INT32_SCHEMA, 2))
    assert schema_of(text, wrapper_for_nullables="true") == struct(
        "R", x=value, y=INT32_SCHEMA.replace(parameters={TAG: "2"})
    )


def test_maps_keep_keys_and_values_optional() -> None:
    text = 'syntax = "proto3"; message R { map<string, int32> my_counts = 1; }'
    keys, items = optional(STRING_SCHEMA, 1), optional(INT32_SCHEMA, 2)
    counts = optional(SchemaBuilder.map(keys, items).name("my_counts").build(), 1)
    assert schema_of(text) == struct("R", my_counts=counts)


def test_maps_of_generated_classes_are_read() -> None:
    """Confluent's serialisers register a map as a message with map_entry, which protoc refuses as such."""
    text = """syntax = "proto3";
    message R {
      repeated MyCountsEntry my_counts = 1;
      message MyCountsEntry { option map_entry = true; string key = 1; int32 value = 2; }
      message Other { string note = 1; /* option map_entry = true; */ }
    }"""
    assert schema_of(text).fields[0].schema.type is SchemaType.MAP
    # The entries count among the messages, as they are declared there.
    assert schema_of(text, b"\x04\x00\x02").fields[0].name == "note"


def test_message_indexes_choose_a_message() -> None:
    text = """syntax = "proto3"; package a.b;
    message One { map<string, string> m = 1; message In { bool x = 1; message Deep { bool y = 1; } } }
    enum E { Z = 0; }
    message Two { bool z = 1; }"""
    for body, name in (
        (b"\0", "a.b.One"),
        (b"\x02\x00", "a.b.One"),
        (b"\x02\x02", "a.b.Two"),
        (b"\x04\x00\x00", "a.b.One.In"),
    ):
        assert schema_of(text, body, enhanced_protobuf_schema_support="true").name == name
    assert schema_of(text, b"\x06\x00\x00\x00").name == "Deep"


def test_references_are_imported() -> None:
    other = 'syntax = "proto3"; package o; message Other { bool x = 1; }'
    text = 'syntax = "proto3"; import "o/other.proto"; message R { o.Other other = 1; }'
    registry = MemoryRegistry()
    register(registry, SchemaKind.PROTOBUF, other, "other")
    id = registry.register("t-value", _with_reference(text, "o/other.proto", "other")).id
    found = with_memory(ProtobufConverter, registry).to_connect_data("t", framed(id, b"\0")).schema
    assert found == struct("R", other=optional(struct("Other", x=optional(Schema(SchemaType.BOOLEAN), 1)), 1))


def _with_reference(text: str, name: str, subject: str) -> SchemaText:
    return SchemaText(SchemaKind.PROTOBUF, text, (SchemaReference(name, subject, 1),))


@pytest.mark.parametrize(
    "name", ["../evil.proto", "/etc/evil.proto", "a/../../evil.proto", "a\\b.proto", "", "x" * 5000]
)
def test_references_stay_in_their_folder(name: str) -> None:
    registry = MemoryRegistry()
    register(registry, SchemaKind.PROTOBUF, 'syntax = "proto3"; message A {}', "other")
    id = registry.register("t-value", _with_reference('syntax = "proto3"; message R {}', name, "other")).id
    with pytest.raises(DataError, match="not a path below its own folder"):
        with_memory(ProtobufConverter, registry).to_connect_data("t", framed(id, b"\0"))


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../../../etc/passwd", "etc/passwd", "google/protobuf/nothing.proto"]
)
def test_nothing_else_can_be_imported(name: str) -> None:
    with pytest.raises(DataError, match="cannot be compiled"):
        schema_of(f'syntax = "proto3"; import "{name}"; message R {{}}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no proto", "cannot be compiled"),
        ('syntax = "proto3"; message R { R r = 1; }', r"recursive \(R > R\)"),
        ('syntax = "proto3"; message R { S s = 1; } message S { repeated R r = 1; }', r"recursive \(R > S > R\)"),
        ('syntax = "proto3"; message R { int32 a = 1; int32 b = 1; }', "cannot be compiled"),
        ('syntax = "proto2"; message R { optional group G = 1 { optional int32 a = 2; } }', "is a group"),
        ('syntax = "proto3";', "Invalid message indexes"),
        ('syntax = "proto3"; message R { ' + "message M { " * 2000 + "}" * 2001, "cannot be compiled"),
        ('syntax = "proto3"; message R { string a = 1; string \ud800 = 2; }', "cannot be written for the compiler"),
        ("//" + "x" * (10 << 20), "exceeds the limit"),
    ],
)
def test_what_cannot_be_is_a_data_error(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        schema_of(text)


def test_a_bomb_of_messages_is_a_data_error() -> None:
    """Each message holds the next one twice: written out, 2^60 fields."""
    parts = "".join(f"message M{n} {{ M{n + 1} a = 1; M{n + 1} b = 2; }} " for n in range(60))
    with pytest.raises(DataError, match="more than 100000 fields"):
        schema_of(f'syntax = "proto3"; {parts} message M60 {{ bool x = 1; }}')


def test_a_schema_of_many_fields_is_read() -> None:
    lines = "\n".join(f"  string field_{number} = {number + 1};" for number in range(3_000))
    assert len(schema_of(f'syntax = "proto3"; message R {{\n{lines}\n}}').fields) == 3_000


def test_optional_fields_of_proto2_can_be_null() -> None:
    text = "message R { optional int32 a = 1 [default = 7]; required string b = 2; }"
    body = b"\0\x12\0"
    assert schema_of(text, body) == struct("R", a=optional(INT32_SCHEMA, 1), b=optional(STRING_SCHEMA, 2))
    nullable = schema_of(text, body, optional_for_nullables="true")
    assert [field.schema.optional for field in nullable.fields] == [True, False]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            struct("R", a=SchemaBuilder.array(SchemaBuilder.array(STRING_SCHEMA).build()).build()),
            "Array cannot be nested",
        ),
        (SchemaBuilder.array(STRING_SCHEMA).build(), "Unsupported root schema of type ARRAY"),
        (SchemaBuilder.map(STRING_SCHEMA, STRING_SCHEMA).build(), "Unsupported root schema of type MAP"),
        (Date.SCHEMA, "cannot be a top-level Protobuf message"),
        (struct("R", **{"not valid": STRING_SCHEMA}), "is invalid"),
        (struct("R", a=STRING_SCHEMA.replace(parameters={TAG: "x"})), "not a number"),
        (struct("R", a=STRING_SCHEMA.replace(parameters={TAG: "0"})), "is invalid"),
        (struct("R", u=struct(f"{NAMES}Union.u", a=OPTIONAL_STRING_SCHEMA)), "has no parameter"),
    ],
)
def test_what_protobuf_cannot_say_is_a_data_error(schema: Schema, message: str) -> None:
    value = _empty(schema) if schema.type is SchemaType.STRUCT else [] if schema.type is SchemaType.ARRAY else {}
    with pytest.raises(DataError, match=message):
        text_of(schema, value)


def test_invalid_names_are_scrubbed_if_asked() -> None:
    schema = struct(
        "my shop.1st order", **{"a-b": OPTIONAL_INT32_SCHEMA, "_x": OPTIONAL_INT32_SCHEMA, "é~": OPTIONAL_INT32_SCHEMA}
    )
    text = text_of(schema, _empty(schema), scrub_invalid_names="true")
    assert text == (
        'syntax = "proto3";\npackage my_shop;\n\nmessage x1st_order {\n'
        "  int32 a_b = 1;\n  int32 x_x = 2;\n  int32 _C3_A9_7E = 3;\n}\n"
    )
