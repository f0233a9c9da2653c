"""Live checks of a sink's database before it runs; each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.jdbc.catalog import Table
from connect_core.connectors.jdbc.config import CONNECTION_URL
from connect_core.connectors.jdbc.connection import JdbcDatabase, message_of, open_database
from connect_core.connectors.jdbc.sink.config import (
    AUTO_CREATE,
    OFFSETS_TABLE,
    PK_FIELDS,
    TABLE_NAME_FORMAT,
    InsertMode,
    KeyMode,
    SinkSettings,
    sink_settings,
)
from connect_core.errors import ConfigError, ConnectError

__all__ = ["live_errors"]

_SECONDS = 4.0
"""Validation as a whole may take five."""

Finding = tuple[str, str]


def live_errors(config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
    """Return the errors that the database reports for a valid configuration: key → errors with remedy."""
    settings = sink_settings(config)
    quick = replace(settings.connection, attempts=1, connect_timeout=_SECONDS, statement_timeout=_SECONDS)
    topics = [topic.strip() for topic in config.get("topics", "").split(",") if topic.strip()]
    found: dict[str, list[str]] = {}
    try:
        database = open_database(quick, limits)
        for key, message in _findings(database, settings, topics):
            found.setdefault(key, []).append(message)
    except ConfigError as error:
        found[CONNECTION_URL] = [str(error)]
    except ConnectError as error:
        found[CONNECTION_URL] = [f"{error}. Check host, port, database, connection.user and connection.password."]
    return found


def _findings(database: JdbcDatabase, settings: SinkSettings, topics: Sequence[str]) -> Iterator[Finding]:
    with database.connect() as connection:
        own = database.dialect.table(connection, settings.offsets_table)
        if own is not None:
            yield from _rights(connection, own, (InsertMode.UPDATE, InsertMode.INSERT), OFFSETS_TABLE)
        for topic in topics:
            name = settings.table_of(topic)
            table = database.dialect.table(connection, name)
            if table is not None:
                yield from _table_findings(connection, table, settings)
            elif not settings.creates:
                yield AUTO_CREATE, f"table {name} of topic {topic} does not exist; create it, or set auto.create=true"


def _table_findings(connection: Connection, table: Table, settings: SinkSettings) -> Iterator[Finding]:
    names = {column.name.lower() for column in table.columns}
    missing = [name for name in settings.key_fields if name.lower() not in names]
    for name in missing:
        yield PK_FIELDS, f"table {table.name} has no column {name}, which pk.fields names; add it, or correct pk.fields"
    is_key_known = bool(settings.key_fields) and settings.key_mode is not KeyMode.NONE
    if settings.insert_mode is InsertMode.UPSERT and is_key_known and not missing:
        keys = [column.name for column in table.columns if column.name.lower() in map(str.lower, settings.key_fields)]
        if not table.is_identified_by(keys):
            yield (
                PK_FIELDS,
                (
                    f"table {table.name} has no primary key or unique constraint of exactly {', '.join(keys)}, which "
                    "insert.mode=upsert needs; add one, or correct pk.fields"
                ),
            )
    yield from _rights(connection, table, (settings.insert_mode,), TABLE_NAME_FORMAT)


def _rights(connection: Connection, table: Table, modes: Sequence[InsertMode], key: str) -> Iterator[Finding]:
    """Try each statement on no rows: without the right, it is refused before any row is read."""
    wanted = {"SELECT"} | {right for mode in modes for right in _NEEDED[mode]}
    for right, statement in _probes(table).items():
        if right not in wanted:
            continue
        try:
            connection.execute(statement)
        except DBAPIError as error:
            yield (
                key,
                f"{right} on table {table.name} is refused ({message_of(error)}); GRANT {right} to connection.user",
            )
        finally:
            connection.rollback()


_NEEDED = {
    InsertMode.INSERT: ("INSERT",),
    InsertMode.UPSERT: ("INSERT", "UPDATE"),
    InsertMode.UPDATE: ("UPDATE",),
}


def _probes(table: Table) -> dict[str, sa.Executable]:
    target = table.to_sqlalchemy()
    columns = list(target.c)
    nothing = sa.literal(1) == sa.literal(0)
    return {
        "SELECT": sa.select(*columns).where(nothing),
        "INSERT": target.insert().from_select([c.name for c in columns], sa.select(*columns).where(nothing)),
        "UPDATE": target.update().where(nothing).values({columns[-1].name: columns[-1]}),
    }
