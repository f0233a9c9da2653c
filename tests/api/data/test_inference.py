"""Schemas of schemaless values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import (
    INT64_SCHEMA,
    Instant,
    Int8,
    SchemaBuilder,
    SchemaType,
    infer_schema,
    validate_value,
)
from connect_core.errors import SchemaBuilderError
from tests.api.data.strategies import scalar_values


@given(st.sampled_from([type for type in SchemaType if type.is_primitive]).flatmap(scalar_values))
def test_scalars_fit_their_inferred_schema(value: Any) -> None:
    schema = infer_schema(value)
    assert schema is not None
    validate_value(schema, value)


def test_plain_numbers_are_wide() -> None:
    assert infer_schema(5) == INT64_SCHEMA
    assert infer_schema(0.5) == SchemaBuilder.float64().build()


def test_lists_with_nulls_have_optional_parts() -> None:
    assert infer_schema([1, None]) == SchemaBuilder.array(SchemaBuilder.int64().optional()).build()


@pytest.mark.parametrize("value", [None, [], {}, [1, "a"], [1, Int8(1)], Instant(0), object(), {"a": []}])
def test_nothing_is_inferred(value: Any) -> None:
    assert infer_schema(value) is None


def test_only_nulls_are_refused_as_in_connect() -> None:
    with pytest.raises(SchemaBuilderError, match="type cannot be null"):
        infer_schema([None])
