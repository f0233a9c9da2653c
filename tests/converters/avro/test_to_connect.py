"""Connect schemas of Avro schemas, as Confluent's AvroData reads them; expectations are written by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Schema,
    SchemaBuilder,
    Time,
    Timestamp,
)
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.parsing import parse_avro
from connect_core.converters.avro.schemas.to_connect import connect_schema
from connect_core.errors import DataError

ENUM = {"type": "enum", "name": "Color", "namespace": "a", "symbols": ["RED", "BLUE"], "doc": "d", "default": "RED"}
OWN = "io.confluent.connect.avro"


def read(avro: Any, version: int | None = None, **settings: Any) -> Schema:
    found = connect_schema(parse_avro(json.dumps(avro)), AvroSettings(**settings), version)
    assert found is not None
    return found


def record(*fields: Any, **traits: Any) -> Any:
    return {"type": "record", "name": "R", "fields": list(fields), **traits}


def field(kind: Any, **traits: Any) -> Any:
    return {"name": "f", "type": kind, **traits}


@pytest.mark.parametrize(
    ("avro", "expected"),
    [
        ("boolean", BOOLEAN_SCHEMA),
        ("int", INT32_SCHEMA),
        ("long", INT64_SCHEMA),
        ("float", FLOAT32_SCHEMA),
        ("double", FLOAT64_SCHEMA),
        ("bytes", BYTES_SCHEMA),
        ({"type": "string"}, STRING_SCHEMA),
        ({"type": {"type": "string"}}, STRING_SCHEMA),
        ({"type": "int", "connect.type": "int8"}, INT8_SCHEMA),
        (["null", "string"], OPTIONAL_STRING_SCHEMA),
        (["string", "null"], OPTIONAL_STRING_SCHEMA),
        ({"type": "int", "logicalType": "date"}, Date.SCHEMA),
        ({"type": "int", "logicalType": "time-millis"}, Time.SCHEMA),
        ({"type": "long", "logicalType": "timestamp-millis"}, Timestamp.SCHEMA),
        ({"type": "long", "logicalType": "timestamp-micros"}, INT64_SCHEMA),
        ({"type": "long", "logicalType": "time-micros"}, INT64_SCHEMA),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, INT64_SCHEMA),
        ({"type": "string", "logicalType": "uuid"}, STRING_SCHEMA),
        ({"type": "int", "logicalType": "unknown"}, INT32_SCHEMA),
        ({"type": "bytes", "logicalType": "decimal", "precision": 64, "scale": 3}, Decimal.schema(3)),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9},
            Decimal.builder(0).parameter("connect.decimal.precision", "9").build(),
        ),
        (
            {"type": "fixed", "name": "a.F", "size": 4},
            SchemaBuilder.bytes().name("a.F").parameter("connect.fixed.size", "4").build(),
        ),
        (
            {"type": "fixed", "name": "a.F", "size": 4, "logicalType": "decimal", "precision": 64, "scale": 1},
            Decimal.builder(1).parameter("connect.fixed.size", "4").build(),
        ),
        ({"type": "array", "items": ["null", "int"]}, SchemaBuilder.array(OPTIONAL_INT32_SCHEMA).build()),
        ({"type": "map", "values": "int"}, SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build()),
        (
            {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "MapEntry",
                    "namespace": OWN,
                    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "string"}],
                },
            },
            SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(),
        ),
        (
            record(field("int"), name="ConnectDefault2", namespace=OWN),
            SchemaBuilder.struct().field("f", INT32_SCHEMA).build(),
        ),
        (
            ["null", "int", {"type": "record", "name": "a.B", "fields": []}],
            SchemaBuilder.struct()
            .name(f"{OWN}.Union")
            .optional()
            .field("int", OPTIONAL_INT32_SCHEMA)
            .field("B", SchemaBuilder.struct().name("a.B").optional().build())
            .build(),
        ),
        (["int"], SchemaBuilder.struct().name(f"{OWN}.Union").field("int", OPTIONAL_INT32_SCHEMA).build()),
    ],
)
def test_schema_is_read(avro: Any, expected: Schema) -> None:
    assert read(avro) == expected


def test_connect_properties_come_back() -> None:
    avro = {
        "type": "string",
        "connect.doc": "d",
        "connect.version": 3,
        "connect.name": "n",
        "connect.parameters": {"p": "q"},
        "connect.default": "x",
        "avro.java.string": "String",
    }
    expected = SchemaBuilder.string().doc("d").version(3).name("n").parameter("p", "q").default_value("x")
    assert read(avro) == expected.parameter("avro.java.string", "String").build()


def test_enum_is_a_string_with_its_symbols() -> None:
    expected = (
        SchemaBuilder.string()
        .name("a.Color")
        .parameters(
            {
                f"{OWN}.enum.doc.Color": "d",
                f"{OWN}.enum.default.Color": "RED",
                f"{OWN}.Enum": "a.Color",
                f"{OWN}.Enum.RED": "RED",
                f"{OWN}.Enum.BLUE": "BLUE",
            }
        )
    )
    assert read(ENUM) == read(ENUM, enhanced=True) == expected.build()
    general = "org.apache.kafka.connect.data.Enum"
    parameters = read(ENUM, generalized=True, metadata=False).parameters
    assert parameters == {general: "a.Color", f"{general}.RED": "0", f"{general}.BLUE": "1"}


def test_unions_name_their_branches() -> None:
    union = [{"type": "record", "name": "a.B", "fields": []}, "string", "null"]
    assert [one.name for one in read(union).fields] == ["B", "string"]
    assert [one.name for one in read(union, enhanced=True).fields] == ["a.B", "string"]
    general = read(union, generalized=True)
    assert [one.name for one in general.fields] == ["connect_union_field_0", "connect_union_field_1"]
    assert general.parameters == {"org.apache.kafka.connect.data.Union": general.name}
    same = [{"type": "record", "name": f"{space}.B", "fields": []} for space in ("a", "b")]
    with pytest.raises(DataError, match="Multiple union schemas map to the Connect union field name"):
        read(same)
    assert read(["int"], flatten=True) == INT32_SCHEMA


def test_docs_of_fields_are_parameters_of_the_record() -> None:
    avro = record(field("int", doc="the number"), doc="all of it")
    found = read(avro)
    assert found.parameters == {f"{OWN}.record.doc": "all of it", f"{OWN}.field.doc.f": "the number"}
    assert found.fields[0].schema.doc is None
    assert read(avro, discard=True).fields[0].schema.doc == "the number"


def test_defaults_of_fields() -> None:
    plain = read(record(field("int", default=5))).fields[0].schema
    assert (plain.default, plain.parameters) == (5, {f"{OWN}.field.default": "true"})
    ours = read(record(field({"type": "int", "connect.default": 5}, default=5))).fields[0].schema
    assert (ours.default, ours.parameters) == (5, None)
    # As Confluent's converter has it: an optional field keeps only the default of 'connect.default'.
    assert read(record(field(["int", "null"], default=5))).fields[0].schema == OPTIONAL_INT32_SCHEMA
    kept = read(record(field([{"type": "int", "connect.default": 5}, "null"], default=5))).fields[0].schema
    assert (kept.default, kept.optional) == (5, True)
    assert read(record(field(["null", "int"], default=None))).fields[0].schema == OPTIONAL_INT32_SCHEMA


def test_default_of_a_record_is_a_struct() -> None:
    inner = {"type": "record", "name": "I", "fields": [field("int", default=1), {"name": "g", "type": "bytes"}]}
    found = read(record(field(inner, default={"f": 4, "g": "\x00\xff"}))).fields[0].schema
    assert list(found.default.values) == [4, b"\x00\xff"]


def test_version_of_the_registry_is_for_the_top_alone() -> None:
    inner = {"type": "record", "name": "I", "fields": []}
    found = read(record(field(inner)), version=7)
    assert (found.version, found.fields[0].schema.version) == (7, None)
    assert read(record(**{"connect.version": 3}), version=7).version == 3


def test_names_are_resolved_in_their_namespace() -> None:
    inner = {"type": "enum", "name": "E", "symbols": ["A"]}
    avro = record(field(inner), {"name": "g", "type": "E"}, {"name": "h", "type": ["null", "a.b.E"]}, namespace="a.b")
    assert [one.schema.name for one in read(avro).fields] == ["a.b.E"] * 3


@pytest.mark.parametrize(
    ("avro", "message"),
    [
        ("null", "Standalone null schemas are not supported by this converter"),
        (record(field("null")), "Standalone null schemas are not supported by this converter"),
        (record(field(["null", "R"])), "the record R refers to itself"),
        (record(field("Missing")), "the type Missing is not defined"),
        ({"type": "int", "connect.type": "int64"}, "Connect type annotation for Avro int field is int64"),
        ({"type": "string", "connect.version": "x"}, "Invalid Connect version found: x"),
        ({"type": "string", "connect.name": 5}, "Invalid schema name: 5"),
        ({"type": "string", "connect.parameters": []}, "Expected JSON object for schema parameters"),
        ({"type": "string", "connect.parameters": {"a": 1}}, "Expected schema parameter values to be strings"),
        (
            {"type": "bytes", "logicalType": "decimal", "scale": 2, "connect.version": 9},
            r"Mismatched versions: version already added to SchemaBuilder \(1\) differs",
        ),
        ({"type": "array", "items": "int", "connect.default": 5}, "Invalid JSON for array default value: 5"),
        ({"type": "thing"}, "the type thing is not defined"),
        ({"items": "int"}, "it is not an Avro schema"),
        ({"type": "array"}, "it is not an Avro schema"),
        (5, "it is not an Avro schema"),
    ],
)
def test_schema_is_refused(avro: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(avro)


def nested(levels: int) -> str:
    return '{"type":"array","items":' * levels + '"int"' + "}" * levels


def doubling(levels: int) -> str:
    """Return a short schema that is long when written out: each record has the one before twice."""
    inner: Any = {"type": "record", "name": "R0", "fields": []}
    for level in range(1, levels):
        name = f"R{level - 1}"
        fields = [{"name": "a", "type": inner}, {"name": "b", "type": name}]
        inner = {"type": "record", "name": f"R{level}", "fields": fields}
    return json.dumps(inner)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nested(101), "nested deeper than the 100 levels allowed"),
        (nested(100_000), "it is not an Avro schema: RecursionError|nested deeper"),
        (doubling(40), "with references expanded it has more than the 50000 parts allowed"),
        ('{"type":"string","doc":"' + "x" * 10_000_000 + '"}', "larger than the 4000000 allowed"),
        ("{", "it is not an Avro schema"),
        ("", "it is not an Avro schema"),
    ],
    ids=["deep", "very deep", "doubling", "10 MB", "broken", "empty"],
)
def test_bomb_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_avro(text)
