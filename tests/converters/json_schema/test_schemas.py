"""Connect's schemas as JSON Schema and back, as Confluent's converter has them."""

from __future__ import annotations

import decimal
import json
from typing import Any

import pytest

from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Timestamp,
)
from connect_core.converters.json_schema.config import JsonSchemaSettings
from connect_core.converters.json_schema.schemas.documents import load_document
from connect_core.converters.json_schema.schemas.from_connect import from_connect_schema
from connect_core.converters.json_schema.schemas.to_connect import to_connect_schema
from connect_core.converters.json_schema.write import RegisteredJsonWriter
from connect_core.errors import DataError
from connect_core.schema_registry.model import SchemaKind, SchemaText

pytestmark = pytest.mark.slow

ONE_OF = "io.confluent.connect.json.OneOf"
ENUM = "io.confluent.connect.json.Enum"
NULL = {"type": "null"}


def text_of(schema: Schema, **settings: Any) -> str:
    known = JsonSchemaSettings(**settings)
    return from_connect_schema(schema, known, RegisteredJsonWriter(known.numeric_decimals, known.ignore_defaults, 10))


def schema_of(
    node: Any, references: dict[str, Any] | None = None, version: int | None = None, **settings: Any
) -> Schema:
    known = JsonSchemaSettings(**settings)
    resolved = [(name, SchemaText(SchemaKind.JSON, json.dumps(one))) for name, one in (references or {}).items()]
    root = SchemaText(SchemaKind.JSON, node if isinstance(node, str) else json.dumps(node))
    return to_connect_schema(load_document(root, resolved, known.ignore_modern_dialects), version, known)


def struct(name: str | None = None, **fields: Schema) -> Schema:
    builder = SchemaBuilder.struct().name(name)
    for field, schema in fields.items():
        builder.field(field, schema)
    return builder.build()


SOURCE = SchemaBuilder.string().name("io.debezium.data.Enum").version(1).parameter("allowed", "true,false")
CHANGE = struct(
    "shop.orders.Envelope",
    before=struct("shop.orders.Value", id=INT32_SCHEMA, email=OPTIONAL_STRING_SCHEMA).replace(optional=True),
    op=STRING_SCHEMA,
    snapshot=SOURCE.optional().default_value("false").build(),
    ts_ms=OPTIONAL_INT64_SCHEMA,
).replace(version=1)
CHANGE_TEXT = (
    '{"type":"object","title":"shop.orders.Envelope","connect.version":1,"properties":{'
    '"op":{"type":"string","connect.index":1},'
    '"before":{"connect.index":0,"oneOf":[{"type":"null"},{"type":"object","title":"shop.orders.Value","properties":{'
    '"id":{"type":"integer","connect.index":0,"connect.type":"int32"},'
    '"email":{"connect.index":1,"oneOf":[{"type":"null"},{"type":"string"}]}}}]},'
    '"snapshot":{"connect.index":2,"oneOf":[{"type":"null"},{"type":"string","title":"io.debezium.data.Enum",'
    '"default":"false","connect.version":1,"connect.parameters":{"allowed":"true,false"}}]},'
    '"ts_ms":{"connect.index":3,"oneOf":[{"type":"null"},{"type":"integer","connect.type":"int64"}]}}}'
)


def test_a_change_event_is_written_to_the_letter() -> None:
    """Members stand in the order of Java's hash maps, as in what Confluent's converter registers for Debezium."""
    assert text_of(CHANGE) == CHANGE_TEXT
    assert schema_of(CHANGE_TEXT) == CHANGE


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (BOOLEAN_SCHEMA, '{"type":"boolean"}'),
        (STRING_SCHEMA, '{"type":"string"}'),
        (Schema(SchemaType.INT8), '{"type":"integer","connect.type":"int8"}'),
        (Schema(SchemaType.FLOAT32), '{"type":"number","connect.type":"float32"}'),
        (Schema(SchemaType.BYTES), '{"type":"string","connect.type":"bytes"}'),
        (
            SchemaBuilder.float64().default_value(2.0).doc("d").build(),
            '{"type":"number","description":"d","default":2,"connect.type":"float64"}',
        ),
        (
            SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).optional().build(),
            '{"oneOf":[{"type":"null"},{"type":"array","items":{"oneOf":[{"type":"null"},{"type":"string"}]}}]}',
        ),
        (
            SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(),
            '{"type":"object","connect.type":"map","additionalProperties":{"type":"integer","connect.type":"int32"}}',
        ),
        (
            SchemaBuilder.map(OPTIONAL_STRING_SCHEMA, INT32_SCHEMA).build(),
            '{"type":"array","connect.type":"map","items":{"type":"object","properties":{'
            '"value":{"type":"integer","connect.index":1,"connect.type":"int32"},'
            '"key":{"connect.index":0,"oneOf":[{"type":"null"},{"type":"string"}]}}}}',
        ),
        (
            Decimal.schema(2),
            '{"type":"string","title":"org.apache.kafka.connect.data.Decimal","connect.version":1,'
            '"connect.type":"bytes","connect.parameters":{"scale":"2"}}',
        ),
        (
            Date.SCHEMA,
            '{"type":"integer","title":"org.apache.kafka.connect.data.Date","connect.version":1,"connect.type":"int32"}',
        ),
        (struct(), '{"type":"object"}'),
        (struct("naïve 😀\t", **{'q"': BOOLEAN_SCHEMA}), None),
    ],
)
def test_schemas_survive(schema: Schema, text: str | None) -> None:
    written = text_of(schema)
    assert text is None or written == text
    assert schema_of(written) == schema


def test_additional_properties_can_be_forbidden() -> None:
    assert text_of(struct(a=BOOLEAN_SCHEMA), additional_properties=False) == (
        '{"type":"object","additionalProperties":false,"properties":{"a":{"type":"boolean","connect.index":0}}}'
    )


def test_numeric_decimals_are_numbers() -> None:
    text = text_of(Decimal.schema(1), numeric_decimals=True)
    assert text.startswith('{"type":"number","title":"org.apache.kafka.connect.data.Decimal"')
    assert schema_of(text) == Decimal.schema(1)


def test_default_of_a_map_is_written_in_hash_order() -> None:
    schema = SchemaBuilder.map(STRING_SCHEMA, INT64_SCHEMA).default_value({"b": 1, "a": 2}).build()
    assert '"default":{"a":2,"b":1}' in text_of(schema)


def test_default_of_a_struct_is_read_and_never_written() -> None:
    """In Connect it belongs to the builder of its schema, and equals no struct of the schema itself."""
    schema = schema_of({"properties": {"a": {"type": "string"}}, "default": {"a": "x"}})
    assert isinstance(schema.default, Struct)
    assert schema.default.values == ["x"]
    with pytest.raises(DataError, match="Mismatching schema"):
        text_of(schema)


def test_endless_default_is_refused() -> None:
    with pytest.raises(DataError, match="cannot express the default inf"):
        text_of(FLOAT64_SCHEMA.replace(default=float("inf")))


@pytest.mark.parametrize("generalized", [False, True])
def test_unions_and_enums_survive(generalized: bool) -> None:
    node = {"oneOf": [NULL, {"type": "string", "connect.index": 0}, {"type": "integer", "connect.index": 1}]}
    schema = schema_of(
        {"type": "object", "properties": {"u": node, "e": {"enum": ["x", None]}}}, generalized_sums=generalized
    )
    again = schema_of(text_of(schema, generalized_sums=generalized), generalized_sums=generalized)
    union, enum = again.field("u"), again.field("e")
    assert union is not None
    assert enum is not None
    assert union.schema.optional
    names = [field.name for field in union.schema.fields]
    if generalized:
        assert (union.schema.name, names) == ("connect_union_0", ["connect_union_field_0", "connect_union_field_1"])
        wanted = {"org.apache.kafka.connect.data.Enum": "", "org.apache.kafka.connect.data.Enum.x": "0"}
        assert wanted.items() <= (enum.schema.parameters or {}).items()
    else:
        assert (union.schema.name, names) == (ONE_OF, [f"{ONE_OF}.field.0", f"{ONE_OF}.field.1"])
        assert enum.schema.parameters == {ENUM: "", f"{ENUM}.x": "x", f"{ENUM}.<NULL>": "<NULL>"}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer"}, INT64_SCHEMA),
        ({"type": "number"}, FLOAT64_SCHEMA),
        ({"type": ["string", "null"]}, OPTIONAL_STRING_SCHEMA),
        ({"anyOf": [{"type": "string"}, NULL]}, OPTIONAL_STRING_SCHEMA),
        ({"oneOf": [{"type": "string"}]}, STRING_SCHEMA),
        ({"type": "string", "minLength": 3, "format": "date"}, STRING_SCHEMA),
        ({"type": "integer", "format": "int32"}, INT64_SCHEMA),
        ({"type": "string", "const": "x"}, STRING_SCHEMA),
        ({"type": "integer", "enum": [1, 2]}, INT64_SCHEMA),
        ({"const": 7}, SchemaBuilder.string().parameter(ENUM, "").parameter(f"{ENUM}.7", "7").build()),
        ({"type": "string", "enum": []}, SchemaBuilder.string().parameter(ENUM, "").build()),
        ({"properties": {"a": {"type": "boolean"}}}, struct(a=BOOLEAN_SCHEMA)),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}, "if": {}, "then": {}}, struct(a=BOOLEAN_SCHEMA)),
        ({"allOf": [{"type": "string"}, {"format": "uri"}]}, STRING_SCHEMA),
        ({"type": "integer", "title": Timestamp.LOGICAL_NAME, "connect.version": 1}, Timestamp.SCHEMA),
        ({"type": "string", "default": "x"}, SchemaBuilder.string().default_value("x").build()),
        (
            {"type": "number", "connect.type": "bytes", "title": Decimal.LOGICAL_NAME, "connect.version": 1,
             "connect.parameters": {"scale": "2"}, "default": 1.25},
            Decimal.schema(2).replace(default=decimal.Decimal("1.25")),
        ),
    ],
)  # fmt: skip
def test_what_json_schemas_mean(node: Any, expected: Schema) -> None:
    assert schema_of(node) == expected


def test_properties_without_index_stand_in_hash_order() -> None:
    names = ("last_name", "id", "first_name", "email", "phone_number")
    properties = {name: {"type": "string"} for name in names}
    found = [field.name for field in schema_of({"type": "object", "properties": properties}).fields]
    assert found == ["last_name", "phone_number", "id", "first_name", "email"]


def test_required_makes_others_optional_only_if_asked() -> None:
    node = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    assert schema_of(node) == struct(a=STRING_SCHEMA, b=STRING_SCHEMA)
    assert schema_of(node, optional_nonrequired=True) == struct(a=STRING_SCHEMA, b=OPTIONAL_STRING_SCHEMA)


def test_all_of_joins_properties() -> None:
    base = {"type": "object", "properties": {"a": {"type": "string"}}}
    node = {"allOf": [{"$ref": "base.json"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}
    found = schema_of(node, {"base.json": base}, optional_nonrequired=True)
    assert found == struct(a=OPTIONAL_STRING_SCHEMA, b=INT64_SCHEMA)


def test_the_version_of_the_registry_counts_where_the_schema_has_none() -> None:
    assert schema_of({"type": "string"}, version=7).version == 7
    assert schema_of({"type": "string", "connect.version": 2}, version=7).version == 2


@pytest.mark.parametrize(
    "ref", ["#/definitions/p%20q", "#/$defs/p%20q", "#here", "https://x.org/part.json", "part.json", "other.json#/a/0"]
)
def test_references_are_resolved(ref: str) -> None:
    part = {"type": "object", "title": "Part", "properties": {"n": {"type": "integer"}}}
    node = {
        "$id": "https://x.org/root.json",
        "definitions": {"p q": {**part, "$id": "#here"}, "embedded": {**part, "$id": "part.json"}},
        "type": "object",
        "properties": {"p": {"$ref": ref}},
    }
    assert schema_of(node, {"other.json": {"a": [part]}}) == struct(p=struct("Part", n=INT64_SCHEMA))


def test_references_lead_to_references() -> None:
    leaf = {"definitions": {"n": {"type": "integer"}}, "$ref": "#/definitions/n"}
    middle = {"type": "array", "items": {"$ref": "leaf.json"}}
    assert schema_of({"$ref": "middle.json"}, {"leaf.json": leaf, "middle.json": middle}) == (
        SchemaBuilder.array(INT64_SCHEMA).build()
    )


def test_a_definition_used_again_carries_an_id() -> None:
    """Confluent marks what it saw before, so that it can write a reference again."""
    part = {"type": "object", "properties": {"n": {"type": "integer"}}}
    properties = {name: {"$ref": "#/definitions/p", "connect.index": i} for i, name in enumerate("abc")}
    found = schema_of({"definitions": {"p": part}, "type": "object", "properties": properties})
    assert [field.schema.parameters for field in found.fields] == [
        None,
        *[{"io.confluent.connect.json.Id": "#id2"}] * 2,
    ]
    assert [field.schema.field("n") is not None for field in found.fields] == [True] * 3


def test_siblings_of_a_reference_count_in_modern_dialects_only() -> None:
    node = {
        "$ref": "#/$defs/a",
        "properties": {"b": {"type": "string"}},
        "$defs": {"a": {"properties": {"a": {"type": "string"}}}},
    }
    modern = {"$schema": "https://json-schema.org/draft/2020-12/schema", **node}
    assert schema_of(node) == struct(a=STRING_SCHEMA)
    assert schema_of(modern) == struct(a=STRING_SCHEMA, b=STRING_SCHEMA)
    assert schema_of(modern, ignore_modern_dialects=True) == struct(a=STRING_SCHEMA)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"properties": {"next": {"$ref": "#"}}}, "recursive at [$]ref #"),
        ({"$ref": "#"}, "recursive"),
        ({"allOf": [{"$ref": "#"}]}, "recursive"),
        ({"$ref": "http://169.254.169.254/secret"}, "not among the references"),
        ({"$ref": "file:///etc/passwd"}, "not among the references"),
        ({"$ref": "#/nowhere"}, "does not exist in the schema"),
        ({"$ref": "#nowhere"}, "does not exist in the schema"),
        ({}, "any value has no Connect schema"),
        (False, "not, if or false has no Connect schema"),
        ({"type": "null"}, "null has no Connect schema"),
        ({"type": "text"}, "unknown type"),
        ({"type": 5}, "unknown type"),
        ([], "is an object, not"),
        ({"type": "array"}, "did not specify the items type"),
        ({"type": "array", "items": [{"type": "string"}]}, "did not specify the items type"),
        ({"type": "integer", "connect.type": "uint8"}, "Unsupported type uint8"),
        ({"type": "string", "connect.version": "one"}, "connect.version is a whole number"),
        ({"properties": {"a": {"type": "string", "connect.index": "x"}}}, "connect.index of a is a whole number"),
        ({"type": "string", "connect.parameters": {"a": 1}}, "connect.parameters is an object with string values"),
        ({"type": "string", "title": 5}, "title of a JSON Schema is a string"),
        ({"type": "string", "default": None}, "Invalid null value"),
        ({"oneOf": {}}, "oneOf of a JSON Schema is a list"),
        ({"enum": "a"}, "is a list"),
        ({"properties": []}, "properties of a JSON Schema is an object"),
        ("{", "not JSON"),
        ('"\\ud800"', "not JSON"),
    ],
)
def test_what_cannot_be_is_a_data_error(node: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        schema_of(node)


def test_a_deep_schema_is_a_data_error() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        node = {"type": "array", "items": node}
    with pytest.raises(DataError, match="too deep"):
        schema_of(node)


@pytest.mark.parametrize("keyword", ["oneOf", "allOf", "properties"])
def test_a_bomb_of_references_is_a_data_error(keyword: str) -> None:
    """Each definition uses the next one twice: written out, 2^60 parts."""
    definitions: dict[str, Any] = {"d60": {"type": "object", "properties": {"x": {"type": "string"}}}}
    for level in range(60):
        twice = [{"$ref": f"#/definitions/d{level + 1}"}] * 2
        parts = dict(zip("ab", twice, strict=True)) if keyword == "properties" else twice
        definitions[f"d{level}"] = {keyword: parts}
    node = {"definitions": definitions, "$ref": "#/definitions/d0"}
    if keyword == "allOf":
        # Properties are joined, however often they are named.
        assert schema_of(node) == struct(x=STRING_SCHEMA)
        return
    with pytest.raises(DataError, match="parts, with each"):
        schema_of(node)


def test_a_large_schema_is_read_and_a_huge_one_refused() -> None:
    properties = {f"field_{number:06}": {"type": "string", "description": "x" * 80} for number in range(80_000)}
    large = json.dumps({"type": "object", "properties": properties})
    assert len(large) > 10_000_000
    assert len(schema_of(large).fields) == 80_000
    with pytest.raises(DataError, match="exceeds the limit"):
        schema_of(large + " " * (16 << 20))
