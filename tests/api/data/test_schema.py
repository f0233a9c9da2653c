"""Schemas: equality, hashing, pickling, replacing."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from connect_core.api.data import INT32_SCHEMA, OPTIONAL_INT32_SCHEMA, STRING_SCHEMA, Field, Int32, Schema, SchemaType
from connect_core.errors import DataError
from tests.api.data.strategies import schemas


@given(schemas)
def test_schema_pickles(schema: Schema) -> None:
    again = pickle.loads(pickle.dumps(schema))
    assert again == schema
    assert hash(again) == hash(schema)


@pytest.mark.parametrize(
    "change",
    [
        {"optional": True},
        {"default": Int32(1)},
        {"name": "n"},
        {"version": 1},
        {"doc": "d"},
        {"parameters": {"k": "v"}},
    ],
)
def test_every_trait_counts_in_equality(change: dict[str, object]) -> None:
    changed = INT32_SCHEMA.replace(**change)  # type: ignore[arg-type]
    assert changed != INT32_SCHEMA
    assert changed == INT32_SCHEMA.replace(**change)  # type: ignore[arg-type]
    assert hash(changed) == hash(INT32_SCHEMA.replace(**change))  # type: ignore[arg-type]


def test_defaults_compare_as_in_java() -> None:
    nan = Schema(SchemaType.FLOAT64, default=float("nan"))
    assert nan == Schema(SchemaType.FLOAT64, default=float("nan"))
    assert hash(nan) == hash(Schema(SchemaType.FLOAT64, default=float("nan")))
    assert Schema(SchemaType.FLOAT64, default=0.0) != Schema(SchemaType.FLOAT64, default=-0.0)


def test_schema_is_immutable() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        INT32_SCHEMA.name = "x"


def test_replace_keeps_the_rest() -> None:
    schema = OPTIONAL_INT32_SCHEMA.replace(name="n", parameters={"a": "b"})
    assert (schema.type, schema.optional, schema.name, schema.parameters) == (SchemaType.INT32, True, "n", {"a": "b"})


@pytest.mark.parametrize("part", ["fields", "key_schema", "value_schema"])
def test_parts_of_another_type_are_refused(part: str) -> None:
    with pytest.raises(DataError):
        getattr(STRING_SCHEMA, part)


def test_texts_are_connects() -> None:
    assert str(INT32_SCHEMA) == "Schema{INT32}"
    assert str(INT32_SCHEMA.replace(name="a.B")) == "Schema{a.B:INT32}"
    assert str(Field("f", 2, STRING_SCHEMA)) == "Field{name=f, index=2, schema=Schema{STRING}}"
