"""A stream is what one task reads in sequence: a table, a range of a table's keys, or a query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from connect_core.api.data import Date, Decimal, SchemaType, Timestamp
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.dialects import Dialect
from connect_core.connectors.jdbc.source.columns import ReadColumn, read_column
from connect_core.connectors.jdbc.source.config import INCREMENTING_COLUMN, TIMESTAMP_COLUMNS, Mode, SourceSettings
from connect_core.connectors.jdbc.source.positions import Order, OrderPart, Role
from connect_core.connectors.jdbc.source.tables import SourceTable
from connect_core.errors import ConnectError

__all__ = ["Stream", "StreamName", "describe_stream", "make_stream", "names_from_json", "names_to_json"]

_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)


@dataclass(frozen=True, slots=True)
class StreamName:
    """The source of a stream: a table, or its keys in [low, high), or the query if there is no table."""

    table: TableName | None
    low: int | None = None
    high: int | None = None

    @property
    def is_range(self) -> bool:
        """Whether it is only a part of a table."""
        return self.low is not None or self.high is not None

    def partition(self) -> dict[str, Any]:
        """Return the source partition: that of Connect's JDBC source, with the range if there is one."""
        if self.table is None:
            return {"query": "query"}
        partition: dict[str, Any] = {"protocol": "1", "table": str(self.table)}
        if self.is_range:
            partition["range"] = f"{'' if self.low is None else self.low}..{'' if self.high is None else self.high}"
        return partition

    def __str__(self) -> str:
        if self.table is None:
            return "the query"
        return f"table {self.table}" + (f", keys {self.partition()['range']}" if self.is_range else "")


@dataclass(frozen=True, slots=True)
class Stream:
    """A described stream. ``key``: the primary key's columns; ``has_xmin``: rows have a transaction id."""

    name: StreamName
    topic: str
    columns: tuple[ReadColumn, ...]
    key: tuple[ReadColumn, ...]
    order: Order
    mode: Mode
    query: str = ""
    is_quoting: bool = True
    has_xmin: bool = False

    @property
    def title(self) -> str:
        """The name of its rows' schema."""
        return self.name.table.name if self.name.table is not None else "query"

    def index(self, column: ReadColumn) -> int:
        """Return the index of a column."""
        return self.columns.index(column)


def describe_stream(name: StreamName, source: SourceTable, settings: SourceSettings, dialect: Dialect) -> Stream:
    """Return the stream of a table. Raises ConnectError if its columns do not fit the mode."""
    is_postgresql = type(dialect).__name__ == "PostgresqlDialect"
    columns = tuple(read_column(one, dialect, settings.numeric_mapping, is_postgresql) for one in source.table.columns)
    by_name = {column.name: column for column in columns}
    key = tuple(by_name[one] for one in source.table.primary_key if one in by_name)
    return make_stream(name, columns, key, settings, source)


def make_stream(
    name: StreamName,
    columns: tuple[ReadColumn, ...],
    key: tuple[ReadColumn, ...],
    settings: SourceSettings,
    source: SourceTable | None = None,
) -> Stream:
    """Return the stream of described columns. Raises ConnectError if they do not fit the mode."""
    topic = settings.topic_prefix + (name.table.name if name.table is not None else "")
    parts = _order(name, columns, key, settings, source.numbered if source else ())
    is_untyped = settings.connection.url.lower().removeprefix("jdbc:")[:6] == "sqlite"
    order = Order(parts, settings.connection.timezone, is_untyped, str(name))
    has_xmin = source is not None and source.has_xmin
    return Stream(name, topic, columns, key, order, settings.mode, settings.query, settings.is_quoting, has_xmin)


def names_to_json(names: Iterable[StreamName]) -> str:
    """Return names as text for a task's configuration."""
    return json.dumps([[*(one.table or (None, None)), one.low, one.high] for one in names])


def names_from_json(text: str) -> list[StreamName]:
    """Return the names in a text of ``names_to_json``."""
    return [
        StreamName(None if name is None else TableName(schema, name), low, high)
        for schema, name, low, high in json.loads(text or "[]")
    ]


def _order(
    name: StreamName,
    columns: Sequence[ReadColumn],
    key: tuple[ReadColumn, ...],
    settings: SourceSettings,
    numbered: Sequence[str],
) -> tuple[OrderPart, ...]:
    by_name = {column.name: column for column in columns}
    keys = tuple(OrderPart(Role.KEY, (column,)) for column in key)
    if settings.mode is Mode.BULK:
        return keys
    parts: tuple[OrderPart, ...] = ()
    if settings.mode.has_timestamp:
        parts += (_timestamp_part(name, by_name, settings),)
    if settings.mode.has_incrementing:
        return (*parts, _incrementing_part(name, by_name, settings, numbered))
    return parts + keys


def _timestamp_part(name: StreamName, columns: Mapping[str, ReadColumn], settings: SourceSettings) -> OrderPart:
    found = tuple(_named(name, columns, one, TIMESTAMP_COLUMNS) for one in settings.timestamp_columns)
    for column in found:
        if column.schema.name not in (Timestamp.LOGICAL_NAME, Date.LOGICAL_NAME):
            raise ConnectError(
                f"Column {column.name} of {name} has type {_type(column)}, not a timestamp; "
                f"use another for {TIMESTAMP_COLUMNS}"
            )
    if settings.validate_non_null and all(column.schema.optional for column in found) and name.table is not None:
        _refuse_null(name, found[0])
    return OrderPart(Role.TIMESTAMP, found)


def _incrementing_part(
    name: StreamName, columns: Mapping[str, ReadColumn], settings: SourceSettings, numbered: Sequence[str]
) -> OrderPart:
    wanted = settings.incrementing_column
    if not wanted:
        if len(numbered) != 1:
            raise ConnectError(f"{name} does not have exactly one auto-numbered column; set {INCREMENTING_COLUMN}")
        wanted = numbered[0]
    column = _named(name, columns, wanted, INCREMENTING_COLUMN)
    is_whole = column.schema.name == Decimal.LOGICAL_NAME and Decimal.scale(column.schema) == 0
    if not (is_whole or (column.schema.type in _INTEGERS and column.schema.name is None)):
        raise ConnectError(
            f"Column {column.name} of {name} has type {_type(column)}, not an integer; "
            f"use another for {INCREMENTING_COLUMN}"
        )
    if settings.validate_non_null and column.schema.optional and name.table is not None:
        _refuse_null(name, column)
    return OrderPart(Role.INCREMENTING, (column,))


def _named(name: StreamName, columns: Mapping[str, ReadColumn], wanted: str, key: str) -> ReadColumn:
    found = columns.get(wanted) or next((one for one in columns.values() if one.name.lower() == wanted.lower()), None)
    if found is None:
        raise ConnectError(
            f"There is no column {wanted} in {name}; it has {', '.join(columns)}. Set {key} to one of them"
        )
    return found


def _refuse_null(name: StreamName, column: ReadColumn) -> None:
    raise ConnectError(
        f"Column {column.name} of {name} may be null, and rows with null there would never be found; "
        "make it NOT NULL, or set validate.non.null=false"
    )


def _type(column: ReadColumn) -> str:
    return str(column.type) if not isinstance(column.type, sa.types.NullType) else "an unknown type"
