"""Assigns what is to be read: tables to tasks, and key ranges of large tables if tables are too few."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.sql import quoted_name

from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.dialects import Dialect
from connect_core.connectors.jdbc.source.config import Mode, SourceSettings
from connect_core.connectors.jdbc.source.stream import StreamName
from connect_core.connectors.jdbc.source.tables import describe_tables, list_tables

__all__ = ["key_ranges", "stream_names"]

_LARGE = 100_000
"""The largest key from which on a table is worth several tasks."""


def stream_names(
    connection: Connection, dialect: Dialect, settings: SourceSettings, max_tasks: int
) -> list[StreamName]:
    """Return all current streams, in a stable order."""
    if settings.query:
        return [StreamName(None)]
    tables = list_tables(connection, settings.selection)
    ranges = max_tasks // len(tables) if tables else 1
    if settings.mode is not Mode.BULK or ranges < 2:
        return [StreamName(table) for table in tables]
    largest = _largest_keys(connection, dialect, settings, tables)
    return [name for table in tables for name in key_ranges(table, largest.get(table), ranges)]


def key_ranges(table: TableName, largest: int | None, ranges: int) -> list[StreamName]:
    """Return the ranges of a table's integer keys; a single one without limits if it is small.

    Their width is a power of two, so that they stay the same while the table grows.
    """
    if largest is None or largest < _LARGE:
        return [StreamName(table)]
    width = 1 << (largest // ranges).bit_length()
    limits = [None, *(step * width for step in range(1, largest // width + 1)), None]
    return [StreamName(table, low, high) for low, high in pairwise(limits)]


def _largest_keys(
    connection: Connection, dialect: Dialect, settings: SourceSettings, tables: Sequence[TableName]
) -> dict[TableName, int]:
    found: dict[TableName, int] = {}
    for name, source in describe_tables(connection, dialect, tables).items():
        key = source.table.primary_key[:1]
        column = source.table.column(key[0]) if key else None
        if column is not None and isinstance(column.type, sa.Integer):
            found[name] = int(connection.execute(_largest(settings, name, column.name)).scalar() or 0)
    return found


def _largest(settings: SourceSettings, name: TableName, column: str) -> sa.Select[Any]:
    quoting = settings.is_quoting
    schema = None if name.schema is None else quoted_name(name.schema, quoting)
    table = sa.table(quoted_name(name.name, quoting), schema=schema)
    return sa.select(sa.func.max(sa.column(quoted_name(column, quoting)))).select_from(table)
