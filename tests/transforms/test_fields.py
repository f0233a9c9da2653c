"""HoistField, ExtractField, ReplaceField, ValueToKey, Flatten and SetSchemaMetadata."""

from __future__ import annotations

import pytest

from connect_core.api.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
)
from connect_core.errors import ConfigError, DataError, IllegalArgumentError
from connect_core.transforms.extract_field import ExtractFieldKey, ExtractFieldValue
from connect_core.transforms.flatten import FlattenValue
from connect_core.transforms.hoist_field import HoistFieldKey, HoistFieldValue
from connect_core.transforms.replace_field import ReplaceFieldValue
from connect_core.transforms.set_schema_metadata import SetSchemaMetadataValue
from connect_core.transforms.value_to_key import ValueToKey
from tests.transforms.single import applied, configured, in_columns, sink

INNER = SchemaBuilder.struct().field("x", OPTIONAL_INT64_SCHEMA).optional().build()
DEFAULTED = INT32_SCHEMA.replace(optional=True, default=7)
SCHEMA = SchemaBuilder.struct().name("row").field("a", INT64_SCHEMA).field("n", INNER).field("d", DEFAULTED).build()


def _row(a: int, x: int | None = None, inner: bool = True, d: int | None = None) -> Struct:
    nested = Struct(INNER).put("x", x) if inner else None
    return Struct.of_values(SCHEMA, [a, nested, d])


@pytest.mark.parametrize(("schema", "value"), [(None, 5), (None, {"a": 1}), (None, None), (STRING_SCHEMA, "line")])
def test_hoist_wraps(schema: Schema | None, value):
    (hoisted,) = applied(configured(HoistFieldValue, field="f"), sink(value, schema))
    assert (hoisted.value["f"], hoisted.value_schema is None) == (value, schema is None)


def test_hoist_refuses_a_null_that_may_not_be():
    transform = configured(HoistFieldKey, field="f")
    record = sink(1, key_schema=STRING_SCHEMA)
    with pytest.raises(DataError, match="null used for required"):
        transform.apply(record)
    assert in_columns(transform, record) is None


@pytest.mark.parametrize(("path", "expected"), [("a", [1, 2]), ("n.x", [5, None]), ("d", [7, 3]), ("`a`", [1, 2])])
def test_extract_follows_paths(path, expected):
    transform = configured(ExtractFieldValue, field=path, field_syntax_version="V2")
    records = applied(transform, sink(_row(1, 5), SCHEMA), sink(_row(2, inner=False, d=3), SCHEMA))
    assert [record.value for record in records] == expected


def test_extract_keeps_nulls_if_told():
    transform = configured(ExtractFieldValue, field="d", replace_null_with_default="false")
    (extracted,) = applied(transform, sink(_row(1), SCHEMA))
    assert (extracted.value, extracted.value_schema) == (None, DEFAULTED)


def test_extract_of_maps():
    transform = configured(ExtractFieldKey, field="a")
    records = applied(transform, sink(1, key={"a": "x"}), sink(1, key=None))
    assert [record.key for record in records] == ["x", None]
    (missing,) = applied(transform, sink(1, key={"b": 1}))
    assert missing.key is None


def test_extract_of_unknown_field_is_refused():
    transform = configured(ExtractFieldValue, field="zz")
    with pytest.raises(IllegalArgumentError, match="Unknown field: zz"):
        transform.apply(sink(_row(1), SCHEMA))
    assert in_columns(transform, sink(_row(1), SCHEMA)) is None


@pytest.mark.parametrize("path", ["`", "a.`", "`abc", "a.`b", "`a\\`"])
def test_extract_refuses_open_backticks(path):
    with pytest.raises(ConfigError, match="Incomplete backtick pair"):
        configured(ExtractFieldValue, field=path, field_syntax_version="V2")


def test_replace_drops_renames_and_fills():
    transform = configured(ReplaceFieldValue, exclude="n", renames="a:id")
    (replaced,) = applied(transform, sink(_row(1), SCHEMA))
    assert [field.name for field in replaced.value_schema.fields] == ["id", "d"]
    assert list(replaced.value.values) == [1, 7]
    (in_map,) = applied(transform, sink({"a": 1, "n": 2, "z": 3}))
    assert in_map.value == {"id": 1, "z": 3}


def test_replace_keeps_what_is_included():
    (kept,) = applied(configured(ReplaceFieldValue, include="b,a"), sink({"a": 1, "b": 2, "c": 3}))
    assert kept.value == {"a": 1, "b": 2}


@pytest.mark.parametrize("renames", ["a", "a:b:c", "a:b,,c:d"])
def test_replace_refuses_bad_renames(renames):
    with pytest.raises(ConfigError, match="Invalid rename mapping"):
        configured(ReplaceFieldValue, renames=renames)


def test_value_to_key_takes_fields_in_order():
    transform = configured(ValueToKey, fields="d,a")
    (keyed,) = applied(transform, sink(_row(1), SCHEMA))
    assert list(keyed.key.values) == [7, 1]
    (in_map,) = applied(transform, sink({"a": 1}))
    assert in_map.key == {"d": None, "a": 1}


def test_value_to_key_refuses_a_missing_field():
    transform = configured(ValueToKey, fields="zz")
    with pytest.raises(DataError, match="Field does not exist: zz"):
        transform.apply(sink(_row(1), SCHEMA))
    assert in_columns(transform, sink(_row(1), SCHEMA)) is None


def test_flatten_names_fields_by_their_path():
    records = applied(
        configured(FlattenValue, delimiter="_"), sink(_row(1, 5), SCHEMA), sink(_row(2, inner=False), SCHEMA)
    )
    assert [field.name for field in records[0].value_schema.fields] == ["a", "n_x", "d"]
    assert [list(record.value.values) for record in records] == [[1, 5, 7], [2, None, 7]]


def test_flatten_of_maps():
    transform = configured(FlattenValue)
    (flat,) = applied(transform, sink({"a": {"b": {"c": 1}}, "l": [1]}))
    assert flat.value == {"a.b.c": 1, "l": [1]}
    assert in_columns(transform, sink({"a": {"b": 1}}), sink({"a": None})) is None


def test_metadata_renames_the_schema():
    (named,) = applied(configured(SetSchemaMetadataValue, schema_name="new", schema_version="2"), sink(_row(1), SCHEMA))
    assert (named.value_schema.name, named.value_schema.version) == ("new", 2)
    assert named.value.schema is named.value_schema


def test_metadata_refuses_what_is_no_struct():
    transform = configured(SetSchemaMetadataValue, schema_name="new")
    with pytest.raises(DataError, match="non-struct"):
        transform.apply(sink("x", STRING_SCHEMA))
    assert in_columns(transform, sink("x", STRING_SCHEMA)) is None
