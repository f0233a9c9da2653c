"""The schema of a schemaless value. Connect: ``Values.inferSchema``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from connect_core.api.data.builder import SchemaBuilder
from connect_core.api.data.primitives import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
)
from connect_core.api.data.schema import Schema, SchemaType
from connect_core.api.data.struct import Struct
from connect_core.errors import SchemaBuilderError
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["infer_schema"]

_SCALARS: dict[type, Schema] = {
    str: STRING_SCHEMA,
    bool: BOOLEAN_SCHEMA,
    Int8: INT8_SCHEMA,
    Int16: INT16_SCHEMA,
    Int32: INT32_SCHEMA,
    Int64: INT64_SCHEMA,
    int: INT64_SCHEMA,
    Float32: FLOAT32_SCHEMA,
    Float64: FLOAT64_SCHEMA,
    float: FLOAT64_SCHEMA,
    bytes: BYTES_SCHEMA,
    memoryview: BYTES_SCHEMA,
}


def infer_schema(value: Any) -> Schema | None:
    """Return the schema inferred from a value, or ``None``.

    A plain int is INT64, a plain float FLOAT64. The parts of lists and maps must have
    one type; for empty ones, dates and decimals no schema is inferred.
    """
    schema = _SCALARS.get(type(value))
    if schema is not None:
        return schema
    if isinstance(value, list):
        return _infer_list(value)
    if isinstance(value, dict):
        return _infer_map(value)
    return value.schema if isinstance(value, Struct) else None


def _infer_list(value: list[Any]) -> Schema | None:
    if not value:
        return None
    types = _types(value)
    return None if types is None else SchemaBuilder.array(_part(types)).build()


def _infer_map(value: dict[Any, Any]) -> Schema | None:
    if not value:
        return None
    keys, items = _types(value), _types(value.values())
    return None if keys is None or items is None else SchemaBuilder.map(_part(keys), _part(items)).build()


def _types(values: Iterable[Any]) -> set[SchemaType | None] | None:
    """Return the schema types (``None`` for null), or ``None`` if they are not one type."""
    types: set[SchemaType | None] = set()
    for value in values:
        schema = None if value is None else infer_schema(value)
        types.add(None if schema is None else schema.type)
        # Return at once: later values may have no type at all, and Connect does not check them either.
        if (schema is None and value is not None) or len(types - {None}) > 1:
            return None
    return types


def _part(types: set[SchemaType | None]) -> Schema:
    known = next((type for type in types if type is not None), None)
    if known is None:
        raise SchemaBuilderError("type cannot be null")
    return Schema(known, optional=None in types)
