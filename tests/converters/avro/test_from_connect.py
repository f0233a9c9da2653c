"""Avro schemas of Connect schemas, as Confluent's AvroData writes them; expected texts are written by hand."""

from __future__ import annotations

import json
from decimal import Decimal as Number
from typing import Any

import pytest

from connect_core.api.data import (
    BYTES_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Float32,
    Instant,
    Schema,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.from_connect import avro_schema
from connect_core.converters.avro.schemas.parsing import parse_avro
from connect_core.converters.avro.schemas.rendering import render_avro
from connect_core.errors import DataError

DECIMAL = "org.apache.kafka.connect.data.Decimal"
ENUM = "io.confluent.connect.avro.Enum"


def text(schema: Schema | None, **settings: Any) -> str:
    found = render_avro(avro_schema(schema, AvroSettings(**settings)))
    assert render_avro(parse_avro(found)) == found
    return found


def struct(name: str | None = None, **fields: Schema) -> SchemaBuilder:
    builder = SchemaBuilder.struct().name(name)
    for field, schema in fields.items():
        builder.field(field, schema)
    return builder


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (INT8_SCHEMA, '{"type":"int","connect.type":"int8"}'),
        (INT16_SCHEMA, '{"type":"int","connect.type":"int16"}'),
        (INT32_SCHEMA, '"int"'),
        (INT64_SCHEMA, '"long"'),
        (BYTES_SCHEMA, '"bytes"'),
        (OPTIONAL_STRING_SCHEMA, '["null","string"]'),
        (
            SchemaBuilder.string().doc("d").version(3).name("n").parameter("p", "q").build(),
            '{"type":"string","connect.doc":"d","connect.version":3,"connect.parameters":{"p":"q"},"connect.name":"n"}',
        ),
        (
            SchemaBuilder.int16().optional().default_value(7).build(),
            '[{"type":"int","connect.default":7,"connect.type":"int16"},"null"]',
        ),
        (SchemaBuilder.float32().default_value(0.1).build(), '{"type":"float","connect.default":0.1}'),
        (SchemaBuilder.float64().default_value(1e7).build(), '{"type":"double","connect.default":1.0E7}'),
        (SchemaBuilder.float64().default_value(float("nan")).build(), '{"type":"double","connect.default":"NaN"}'),
        (SchemaBuilder.bytes().default_value(b"\0\xff").build(), '{"type":"bytes","connect.default":"\\u0000ÿ"}'),
        (SchemaBuilder.array(INT32_SCHEMA).build(), '{"type":"array","items":"int"}'),
        (SchemaBuilder.map(STRING_SCHEMA, OPTIONAL_INT64_SCHEMA).build(), '{"type":"map","values":["null","long"]}'),
        (
            SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(),
            '{"type":"array","items":{"type":"record","name":"MapEntry","namespace":"io.confluent.connect.avro",'
            '"fields":[{"name":"key","type":"int"},{"name":"value","type":"string"}]}}',
        ),
        (
            SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).name("a.Pairs").build(),
            '{"type":"array","items":{"type":"record","name":"Pairs","namespace":"a","fields":[{"name":"key",'
            '"type":"int"},{"name":"value","type":"string"}],"connect.internal.type":"MapEntry"},'
            '"connect.name":"a.Pairs"}',
        ),
        (
            Decimal.schema(2),
            '{"type":"bytes","scale":2,"precision":64,"connect.version":1,"connect.parameters":{"scale":"2"},'
            f'"connect.name":"{DECIMAL}","logicalType":"decimal"}}',
        ),
        (
            Decimal.builder(2).parameter("connect.decimal.precision", "9").build(),
            '{"type":"bytes","scale":2,"precision":9,"connect.version":1,"connect.parameters":{"scale":"2",'
            f'"connect.decimal.precision":"9"}},"connect.name":"{DECIMAL}","logicalType":"decimal"}}',
        ),
        (
            Date.SCHEMA,
            '{"type":"int","connect.version":1,"connect.name":"org.apache.kafka.connect.data.Date",'
            '"logicalType":"date"}',
        ),
        (
            Time.builder().optional().build(),
            '["null",{"type":"int","connect.version":1,"connect.name":"org.apache.kafka.connect.data.Time",'
            '"logicalType":"time-millis"}]',
        ),
        (
            Timestamp.builder().default_value(Instant(5)).build(),
            '{"type":"long","connect.version":1,"connect.default":5,'
            '"connect.name":"org.apache.kafka.connect.data.Timestamp","logicalType":"timestamp-millis"}',
        ),
        (
            SchemaBuilder.bytes().name("a.Hash").parameter("connect.fixed.size", "16").build(),
            '{"type":"fixed","name":"Hash","namespace":"a","size":16,"connect.parameters":'
            '{"connect.fixed.size":"16"},"connect.name":"a.Hash"}',
        ),
    ],
)
def test_schema_is_written(schema: Schema, expected: str) -> None:
    assert text(schema) == expected


def test_record_has_fields_docs_and_defaults() -> None:
    schema = (
        struct("shop.Order", id=INT64_SCHEMA, note=OPTIONAL_STRING_SCHEMA)
        .field("state", SchemaBuilder.string().optional().default_value("new").build())
        .version(2)
        .parameter("io.confluent.connect.avro.record.doc", "An order")
        .parameter("io.confluent.connect.avro.field.doc.id", "Its number")
        .build()
    )
    assert json.loads(text(schema)) == {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "doc": "An order",
        "fields": [
            {"name": "id", "type": "long", "doc": "Its number"},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "state", "type": [{"type": "string", "connect.default": "new"}, "null"], "default": "new"},
        ],
        "connect.version": 2,
        "connect.parameters": {
            "io.confluent.connect.avro.record.doc": "An order",
            "io.confluent.connect.avro.field.doc.id": "Its number",
        },
        "connect.name": "shop.Order",
    }


def test_unnamed_records_are_numbered_and_equal_ones_shared() -> None:
    inner, other = struct(x=INT32_SCHEMA).build(), struct(y=INT32_SCHEMA).build()
    found = json.loads(text(struct(a=inner, b=inner, c=other, d=inner.replace(optional=True)).build()))
    types = [field["type"] for field in found["fields"]]
    assert (found["name"], types[0]["name"], types[2]["name"]) == (
        "ConnectDefault",
        "ConnectDefault2",
        "ConnectDefault3",
    )
    assert (types[1], types[3]) == ("ConnectDefault2", ["null", "ConnectDefault2"])


def test_one_name_for_two_schemas_is_refused() -> None:
    one, other = struct("a.B", x=INT32_SCHEMA).build(), struct("a.B", y=INT32_SCHEMA).build()
    with pytest.raises(
        DataError, match=r"Can't redefine: a\.B stands for two different schemas; give one another name"
    ):
        text(struct(one=one, other=other).build())


def test_union_struct_is_a_union() -> None:
    union = struct(
        "io.confluent.connect.avro.Union", int=INT32_SCHEMA.replace(optional=True), string=OPTIONAL_STRING_SCHEMA
    )
    assert text(union.build()) == '["int","string"]'
    assert text(union.optional().build()) == '["null","int","string"]'


def test_union_with_a_branch_twice_is_refused() -> None:
    color = SchemaBuilder.string().parameters({ENUM: "Color", f"{ENUM}.RED": "RED"}).optional().build()
    union = struct("io.confluent.connect.avro.Union", string=OPTIONAL_STRING_SCHEMA, Color=color).build()
    with pytest.raises(DataError, match=r"Duplicate in union: string; .*enhanced\.avro\.schema\.support=true"):
        text(union)
    assert json.loads(text(union, enhanced=True))[1]["name"] == "Color"


def test_enum_is_written_when_enhanced_or_generalized() -> None:
    parameters = {ENUM: "a.Color", f"{ENUM}.RED": "RED", f"{ENUM}.BLUE": "BLUE"}
    schema = SchemaBuilder.string().name("a.Color").parameters(parameters).build()
    assert json.loads(text(schema))["type"] == "string"
    found = json.loads(text(schema, enhanced=True, metadata=False))
    assert found == {"type": "enum", "name": "Color", "namespace": "a", "symbols": ["RED", "BLUE"]}
    general = "org.apache.kafka.connect.data.Enum"
    schema = (
        SchemaBuilder.string().parameters({general: "Color", f"{general}.RED": "0", f"{general}.BLUE": "1"}).build()
    )
    found = json.loads(text(schema, generalized=True, metadata=False))
    assert found == {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}


def test_settings_leave_out_metadata_and_keep_own_docs() -> None:
    field = SchemaBuilder.int8().doc("small").default_value(1).build()
    schema = struct("R", a=field).version(3).build()
    bare = json.loads(text(schema, metadata=False))
    assert bare == {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": 1}]}
    assert json.loads(text(schema, discard=True))["fields"][0]["doc"] == "small"


def test_string_keys_that_may_be_null_are_entries_unless_allowed() -> None:
    schema = SchemaBuilder.map(OPTIONAL_STRING_SCHEMA, INT32_SCHEMA).build()
    assert json.loads(text(schema))["items"]["name"] == "MapEntry"
    assert text(schema, optional_keys=True) == '{"type":"map","values":"int"}'


@pytest.mark.parametrize(
    ("name", "scrubbed"),
    [
        ("abc+-.*_", "abc_2B____"),
        ("abc  def", "abc__def"),
        ("0abc.def", "x0abc_def"),
        ("_abc", "_abc"),
        ("é", "_C3_A9"),
    ],
)
def test_names_that_avro_refuses_are_scrubbed(name: str, scrubbed: str) -> None:
    schema = struct("R").field(name, INT32_SCHEMA).build()
    assert json.loads(text(schema, scrub=True))["fields"][0]["name"] == scrubbed
    if name != scrubbed:
        with pytest.raises(DataError, match=r"is not a valid Avro name.*ReplaceField.*scrub\.invalid\.names=true"):
            text(schema)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (SchemaBuilder.array(INT32_SCHEMA), [1, 2], [1, 2]),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA), {"a": 1}, {"a": 1}),
        (Decimal.builder(1), Number("12.8"), "\x00\x80"),
        (SchemaBuilder.float32(), Float32(2.5), 2.5),
    ],
)
def test_default_of_a_field_is_avros_too(schema: SchemaBuilder, value: Any, expected: Any) -> None:
    field = json.loads(text(struct("R", a=schema.default_value(value).build()).build()))["fields"][0]
    assert (field["default"], field["type"]["connect.default"]) == (expected, expected)


def test_default_that_avro_refuses_stays_connects() -> None:
    pairs = SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).default_value({1: "a"}).build()
    field = json.loads(text(struct("R", a=pairs).build()))["fields"][0]
    assert ("default" in field, field["type"]["connect.default"]) == (False, [[1, "a"]])
    inner = struct("I", x=INT32_SCHEMA).optional()
    inner.default_value(Struct(inner.draft).put("x", 4))
    field = json.loads(text(struct("R", a=inner.build()).build()))["fields"][0]
    assert ("default" in field, field["type"][1]["connect.default"]) == (False, {"x": 4})


def test_schemaless_is_the_record_of_anything() -> None:
    found = json.loads(text(None))
    assert (found["namespace"], found["name"]) == ("io.confluent.connect.avro", "Anything")
    assert [field["name"] for field in found["fields"]] == [
        *("boolean", "bytes", "double", "float", "int", "long", "string", "array", "map")
    ]
