"""Columns of a stream: their Connect schema, and the form in which SQL must return them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Decimal, Schema, SchemaBuilder, SchemaType
from connect_core.connectors.jdbc.catalog import BINARY_TYPES, Column
from connect_core.connectors.jdbc.dialects import Dialect
from connect_core.connectors.jdbc.source.config import NumericMapping

__all__ = ["ReadColumn", "key_schema", "read_column", "value_schema"]

_OPEN_SCALE = 38
"""The scale for NUMERIC columns without one."""

_MOST_INTEGER_DIGITS = 18
_INTEGERS: tuple[tuple[int, SchemaType], ...] = (
    (2, SchemaType.INT8),
    (4, SchemaType.INT16),
    (9, SchemaType.INT32),
    (_MOST_INTEGER_DIGITS, SchemaType.INT64),
)
"""The narrowest type for this many digits, as in Connect's JDBC source."""

_PLAIN_TEXTS = (sa.Text, sa.TEXT, sa.String, sa.VARCHAR, sa.CHAR)


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """One column of a stream.

    ``is_text``: SQL must cast it to text, as drivers disagree about its type. ``is_zoned``: its points in time are in
    UTC, not in ``db.timezone``.
    """

    name: str
    type: TypeEngine[Any]
    schema: Schema
    is_text: bool = False
    is_zoned: bool = False


def read_column(column: Column, dialect: Dialect, mapping: NumericMapping, is_postgresql: bool) -> ReadColumn:
    """Return how a column is read; a type without a Connect schema is read as text."""
    kind = column.type
    schema = _schema(kind, dialect, mapping)
    is_text = is_postgresql and _needs_cast(kind, schema)
    if schema is None or (is_text and schema.type is not SchemaType.STRING):
        schema = SchemaBuilder.string().build()
    schema = schema.replace(optional=column.nullable)
    return ReadColumn(column.name, kind, schema, is_text, _is_zoned(kind))


def value_schema(name: str, columns: tuple[ReadColumn, ...], version: int) -> Schema:
    """Return the schema of a table's rows."""
    builder = SchemaBuilder.struct().name(name).version(version)
    for column in columns:
        builder.field(column.name, column.schema)
    return builder.build()


def key_schema(name: str, columns: tuple[ReadColumn, ...]) -> Schema:
    """Return the schema of a table's keys."""
    builder = SchemaBuilder.struct().name(f"{name}.Key")
    for column in columns:
        builder.field(column.name, column.schema.replace(optional=False))
    return builder.build()


def _schema(kind: TypeEngine[Any], dialect: Dialect, mapping: NumericMapping) -> Schema | None:
    if isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float):
        return _numeric(kind, mapping)
    if getattr(kind, "unsigned", False):
        return _unsigned(kind)
    if isinstance(kind, BINARY_TYPES):
        return Schema(SchemaType.BYTES)
    return dialect.schema_of(kind)


def _numeric(kind: sa.Numeric[Any], mapping: NumericMapping) -> Schema:
    precision, scale = kind.precision, kind.scale
    if precision is None and scale is None:
        is_open = mapping in (NumericMapping.BEST_FIT, NumericMapping.BEST_FIT_EAGER_DOUBLE)
        return Schema(SchemaType.FLOAT64) if is_open else Decimal.schema(_OPEN_SCALE)
    digits, scale = precision or _MOST_INTEGER_DIGITS + 1, scale or 0
    if scale > 0:
        if mapping is NumericMapping.BEST_FIT_EAGER_DOUBLE:
            return Schema(SchemaType.FLOAT64)
        if mapping is NumericMapping.BEST_FIT and digits <= _MOST_INTEGER_DIGITS:
            return Schema(SchemaType.FLOAT64)
    elif mapping is not NumericMapping.NONE and digits <= _MOST_INTEGER_DIGITS:
        return Schema(next(type for most, type in _INTEGERS if digits <= most))
    # A negative scale means a multiple of a power of ten: as an integer nothing is lost.
    return Decimal.schema(max(0, scale))


def _unsigned(kind: TypeEngine[Any]) -> Schema:
    """Return a schema that can hold MySQL's unsigned integers."""
    if isinstance(kind, sa.BigInteger):
        return Decimal.schema(0)
    if isinstance(kind, mysql.TINYINT):
        return Schema(SchemaType.INT16)
    return Schema(SchemaType.INT32 if isinstance(kind, sa.SmallInteger) else SchemaType.INT64)


def _needs_cast(kind: TypeEngine[Any], schema: Schema | None) -> bool:
    if isinstance(kind, sa.ARRAY):
        return schema is None or _needs_cast(kind.item_type, schema.value_schema)
    if isinstance(kind, sa.Time) and kind.timezone:
        return True
    return schema is None or (schema.type is SchemaType.STRING and type(kind) not in _PLAIN_TEXTS)


def _is_zoned(kind: TypeEngine[Any]) -> bool:
    return isinstance(kind, mysql.TIMESTAMP) or bool(getattr(kind, "timezone", False))
