"""Checks a source's settings on its database; each finding comes with a remedy."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from connect_core.api.connector import WorkerLimits
from connect_core.api.source import WrittenSchemas
from connect_core.connectors.jdbc.address import CONNECTION_URL
from connect_core.connectors.jdbc.connection import JdbcDatabase, message_of, open_database
from connect_core.connectors.jdbc.source.config import (
    INCREMENTING_COLUMN,
    MODE,
    QUERY,
    TABLE_INCLUDE,
    TIMESTAMP_COLUMNS,
    Mode,
    SourceSettings,
)
from connect_core.connectors.jdbc.source.description import describe_streams
from connect_core.connectors.jdbc.source.horizon import STANDBY
from connect_core.connectors.jdbc.source.positions import Role
from connect_core.connectors.jdbc.source.row_reader import reading
from connect_core.connectors.jdbc.source.row_records import row_converter
from connect_core.connectors.jdbc.source.statements import Window, select_positions
from connect_core.connectors.jdbc.source.stream import Stream, StreamName
from connect_core.connectors.jdbc.source.tables import list_tables
from connect_core.errors import ConnectError

__all__ = ["check_live", "written_schemas"]

_LOG = logging.getLogger(__name__)
_MOST_TABLES = 50
_CONNECT_SECONDS = 3.0
_FIRST_VERSION = 1

Findings = dict[str, list[str]]


def written_schemas(settings: SourceSettings, limits: WorkerLimits) -> Mapping[str, WrittenSchemas]:
    """Return the schemas of the rows that would be read now, by topic. Raise ConnectError."""
    database = _hasty(settings, limits)
    with reading(database) as connection:
        names = _names(connection, settings, defaultdict(list))[:_MOST_TABLES]
        streams = list(describe_streams(connection, database.dialect, settings, names))
        converters = {stream.topic: row_converter(stream, _FIRST_VERSION) for stream in streams}
    return {topic: WrittenSchemas(one.key_schema, one.value_schema) for topic, one in converters.items()}


def check_live(settings: SourceSettings, limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
    """Return the errors by setting: unreachable, no such table or column, no right to read."""
    database = _hasty(settings, limits)
    found: Findings = defaultdict(list)
    try:
        with reading(database) as connection:
            names = _names(connection, settings, found)
            connection.rollback()
    except ConnectError as error:
        return {CONNECTION_URL: [f"{error}; check address, user and password"]}
    for name in names[:_MOST_TABLES]:
        _check_stream(database, settings, name, found)
    return found


def _hasty(settings: SourceSettings, limits: WorkerLimits) -> JdbcDatabase:
    return open_database(replace(settings.connection, attempts=1, connect_timeout=_CONNECT_SECONDS), limits)


def _names(connection: Connection, settings: SourceSettings, found: Findings) -> list[StreamName]:
    if settings.query:
        return [StreamName(None)]
    tables = list_tables(connection, settings.selection)
    for entry in settings.selection.include:
        alone = replace(settings.selection, include=(entry,))
        if not any(table in tables for table in list_tables(connection, alone)):
            found[TABLE_INCLUDE].append(
                f"There is no table {entry} that this user can see; create it, or correct the name"
            )
    by_name: dict[str, list[str]] = defaultdict(list)
    for table in tables:
        by_name[table.name].append(str(table))
    for name, same in by_name.items():
        if len(same) > 1:
            found[TABLE_INCLUDE].append(
                f"Tables {', '.join(same)} would share the topic {settings.topic_prefix}{name}; choose one of them, "
                "or set schema.pattern"
            )
    return [StreamName(table) for table in tables]


def _check_stream(database: JdbcDatabase, settings: SourceSettings, name: StreamName, found: Findings) -> None:
    try:
        with reading(database) as connection:
            for stream in describe_streams(connection, database.dialect, settings, [name]):
                _check_reading(connection, stream, found)
                _check_primary(connection, stream, found)
                _warn_of_missing_index(connection, stream)
    except ConnectError as error:
        text = str(error)
        key = next((one for one in (TIMESTAMP_COLUMNS, INCREMENTING_COLUMN) if one in text), MODE)
        found[QUERY if name.table is None and key is MODE else key].append(text)


def _check_reading(connection: Connection, stream: Stream, found: Findings) -> None:
    try:
        connection.execute(select_positions(stream, Window(), is_last=False)).first()
    except SQLAlchemyError as error:
        key = TABLE_INCLUDE if stream.name.table is not None else QUERY
        found[key].append(f"{stream.name} cannot be read: {message_of(error)}; grant SELECT, or leave it out")


def _check_primary(connection: Connection, stream: Stream, found: Findings) -> None:
    if not stream.has_xmin or stream.mode is Mode.BULK or found.get(CONNECTION_URL):
        return
    if connection.execute(sa.text("SELECT pg_is_in_recovery()")).scalar():
        found[CONNECTION_URL].append(STANDBY)


def _warn_of_missing_index(connection: Connection, stream: Stream) -> None:
    table = stream.name.table
    if table is None or stream.mode is Mode.BULK or connection.dialect.name == "duckdb":
        return
    inspector = sa.inspect(connection)
    indexes = [one["column_names"] for one in inspector.get_indexes(table.name, schema=table.schema)]
    leading = {columns[0] for columns in [*indexes, _names_of(stream)] if columns}
    for part in stream.order.parts:
        if part.role is not Role.KEY and part.column.name not in leading:
            _LOG.warning(
                "Column %s of %s has no index: each poll reads the whole table; create one",
                part.column.name,
                stream.name,
            )


def _names_of(stream: Stream) -> list[str | None]:
    return _list(column.name for column in stream.key)


def _list(names: Iterable[str]) -> list[str | None]:
    return list(names)
