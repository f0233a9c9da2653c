"""Copies of schemas and of structs' values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from connect_core.api.data import Schema, SchemaBuilder, SchemaType, Struct, validate_value

__all__ = ["SCHEMA_CACHE_SIZE", "cached", "copy_basics", "copy_values", "field_value"]

SCHEMA_CACHE_SIZE = 16
"""The number of changed schemas a transform caches, as in Connect."""


def cached(change: Callable[[Schema], Schema]) -> Callable[[Schema], Schema]:
    """Return ``change`` with a cache for the schemas used last."""
    return lru_cache(maxsize=SCHEMA_CACHE_SIZE)(change)


def copy_basics(source: Schema, builder: SchemaBuilder | None = None) -> SchemaBuilder:
    """Give a builder the name, version, doc and parameters of a schema.

    Without a builder, one of the same type is created. Connect: ``SchemaUtil``.
    """
    if builder is None:
        is_array = source.type is SchemaType.ARRAY
        builder = SchemaBuilder.array(source.value_schema) if is_array else SchemaBuilder(source.type)
    builder.name(source.name).version(source.version).doc(source.doc)
    return builder if source.parameters is None else builder.parameters(source.parameters)


def copy_values(struct: Struct, replace_nulls: bool) -> list[Any]:
    """Return a struct's values to put into another one, with nulls replaced by defaults if requested.

    Raise DataError for a null in a required field, as ``put`` would.
    """
    values = list(struct.values)
    if None in values:
        for field in struct.schema.fields:
            if values[field.index] is None:
                values[field.index] = field.schema.default if replace_nulls else None
                if values[field.index] is None and not field.schema.optional:
                    validate_value(field.schema, None, field.name)
    return values


def field_value(struct: Struct, name: str, replace_nulls: bool) -> Any:
    """Return a field's value, a null replaced by the default if requested. Raise DataError for an unknown field."""
    return struct.get(name) if replace_nulls else struct.get_without_default(name)
