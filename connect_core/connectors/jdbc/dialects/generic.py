"""Any SQLAlchemy dialect: only what PEP 249, SQL's standard and SQLAlchemy promise."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Date, Decimal, Schema, SchemaBuilder, SchemaType, Time, Timestamp
from connect_core.connectors.jdbc.catalog import Table, TableName, has_reflection, look_up, look_up_by_standard
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.errors import DataError

__all__ = ["DECIMAL_DIGITS", "GenericDialect"]

DECIMAL_DIGITS = 38
"""Precision of columns for Decimals, whose schema says a scale only."""

_PRIMITIVES: dict[SchemaType, TypeEngine[Any]] = {
    SchemaType.INT8: sa.SmallInteger(),
    SchemaType.INT16: sa.SmallInteger(),
    SchemaType.INT32: sa.Integer(),
    SchemaType.INT64: sa.BigInteger(),
    SchemaType.FLOAT32: sa.REAL(),
    SchemaType.FLOAT64: sa.Double(),
    SchemaType.BOOLEAN: sa.Boolean(),
    SchemaType.STRING: sa.Text(),
    SchemaType.BYTES: sa.LargeBinary(),
}
_LOGICAL: dict[tuple[str | None, SchemaType], TypeEngine[Any]] = {
    (Date.LOGICAL_NAME, SchemaType.INT32): sa.Date(),
    (Time.LOGICAL_NAME, SchemaType.INT32): sa.Time(),
    (Timestamp.LOGICAL_NAME, SchemaType.INT64): sa.DateTime(),
}
_SCHEMAS: tuple[tuple[type[TypeEngine[Any]], SchemaBuilder], ...] = (
    (sa.Boolean, SchemaBuilder.boolean()),
    (sa.SmallInteger, SchemaBuilder.int16()),
    (sa.BigInteger, SchemaBuilder.int64()),
    (sa.Integer, SchemaBuilder.int32()),
    (sa.REAL, SchemaBuilder.float32()),
    (sa.Float, SchemaBuilder.float64()),
    (sa.DateTime, Timestamp.builder()),
    (sa.Date, Date.builder()),
    (sa.Time, Time.builder()),
    (sa.LargeBinary, SchemaBuilder.bytes()),
    (sa.String, SchemaBuilder.string()),
    (sa.JSON, SchemaBuilder.string()),
    (sa.Uuid, SchemaBuilder.string()),
)
"""By the first class that fits, so the narrower ones come first."""


class GenericDialect:
    """The path of every database without a class of its own; the others override what they do better."""

    _has_reflection: bool | None = None

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return nothing: no argument is known to all drivers."""
        return {}

    def listen(self, engine: Engine) -> None:
        """Leave connections as the driver makes them."""

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return a table as it is now, or ``None``; by SQL's standard where the dialect cannot say."""
        if self._has_reflection is None:
            # On a connection of its own: a failed try would end the caller's transaction.
            with connection.engine.connect() as other:
                self._has_reflection = has_reflection(other)
        return (look_up if self._has_reflection else look_up_by_standard)(connection, name)

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the column type of a schema; see the table in the README. Raises DataError."""
        if schema.name == Decimal.LOGICAL_NAME and schema.type is SchemaType.BYTES:
            return self.decimal_type(Decimal.scale(schema))
        found = _LOGICAL.get((schema.name, schema.type)) or _PRIMITIVES.get(schema.type)
        if is_key and schema.type is SchemaType.STRING:
            return sa.String(255)
        if found is None and is_key:
            raise DataError(f"a column for {schema.type} cannot be part of a primary key; choose other pk.fields")
        return found or self.nested_type(schema)

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return the type for decimals of one scale. Raises DataError where it has too many digits."""
        if not 0 <= scale <= DECIMAL_DIGITS:
            raise DataError(f"a Decimal of scale {scale} has no column type; bring it to 0..{DECIMAL_DIGITS} before")
        return sa.Numeric(DECIMAL_DIGITS, scale)

    def nested_type(self, schema: Schema) -> TypeEngine[Any]:
        """Return the type for arrays, maps and structs: JSON, as text."""
        return sa.Text()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``."""
        if isinstance(type, sa.Numeric) and not isinstance(type, sa.Float):
            return Decimal.builder(type.scale or 0).optional().build()
        builder = next((builder for kind, builder in _SCHEMAS if isinstance(type, kind)), None)
        return None if builder is None else builder.build().replace(optional=True)

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether PEP 249 calls it operational: the database's trouble, not the statement's."""
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
