"""Describes streams from the current state of the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.api.data import INT64_SCHEMA, SchemaType, Timestamp
from connect_core.connectors.jdbc.catalog import Column
from connect_core.connectors.jdbc.dialects import Dialect
from connect_core.connectors.jdbc.source.columns import ReadColumn, read_column
from connect_core.connectors.jdbc.source.config import SourceSettings
from connect_core.connectors.jdbc.source.positions import Order
from connect_core.connectors.jdbc.source.query_columns import Untyped, query_columns
from connect_core.connectors.jdbc.source.stream import Stream, StreamName, describe_stream, make_stream
from connect_core.connectors.jdbc.source.tables import describe_tables

__all__ = ["describe_streams"]


def describe_streams(
    connection: Connection, dialect: Dialect, settings: SourceSettings, names: Sequence[StreamName]
) -> Iterable[Stream]:
    """Yield the streams of these names; those of tables that no longer exist are left out.

    Raises ConnectError for one whose columns do not fit the mode.
    """
    tables = describe_tables(connection, dialect, [name.table for name in names if name.table is not None])
    for name in names:
        if name.table is None:
            yield _query_stream(connection, dialect, settings, name)
        elif name.table in tables:
            yield describe_stream(name, tables[name.table], settings, dialect)


def _query_stream(connection: Connection, dialect: Dialect, settings: SourceSettings, name: StreamName) -> Stream:
    order = Order((), settings.connection.timezone)
    bare = Stream(name, settings.topic_prefix, (), (), order, settings.mode, settings.query, settings.is_quoting)
    found = query_columns(connection, bare)
    columns = tuple(_read(one, dialect, settings, connection.dialect.name) for one in found)
    return make_stream(name, columns, (), settings)


def _read(column: Column, dialect: Dialect, settings: SourceSettings, database: Any) -> ReadColumn:
    read = read_column(column, dialect, settings.numeric_mapping, database == "postgresql")
    is_untyped, name = isinstance(column.type, Untyped), column.name.lower()
    if is_untyped and name == settings.incrementing_column.lower():
        # No row has a value yet: wait for one, which will show whether it is an integer.
        return replace(read, schema=INT64_SCHEMA.replace(optional=True), type=sa.BigInteger())
    is_timestamp = name in {one.lower() for one in settings.timestamp_columns}
    if is_timestamp and (is_untyped or (database == "sqlite" and read.schema.type is SchemaType.STRING)):
        # SQLite's results have no types; the setting shows that the text is a timestamp.
        kind = sa.DateTime() if is_untyped else read.type
        return replace(read, schema=Timestamp.SCHEMA.replace(optional=True), type=kind)
    return read
