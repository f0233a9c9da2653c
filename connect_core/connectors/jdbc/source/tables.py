"""The tables of a source: listed from the database, selected by the settings, described all at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.engine.interfaces import ReflectedColumn

from connect_core.connectors.jdbc.catalog import Column, Table, TableName
from connect_core.connectors.jdbc.dialects import Dialect
from connect_core.connectors.jdbc.source.config import TableSelection
from connect_core.errors import IllegalArgumentError
from connect_core.java.regex.pattern import compile_java

__all__ = ["SourceTable", "describe_tables", "list_tables"]

_SYSTEM = re.compile(r"information_schema|pg_.*|mysql|performance_schema|sys", re.IGNORECASE)
_LIST_BY_STANDARD = (
    "SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables ORDER BY 2, 3"
)


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table, its columns numbered by the database, and whether its rows have a transaction id (``xmin``)."""

    table: Table
    numbered: tuple[str, ...] = ()
    has_xmin: bool = False


def list_tables(connection: Connection, selection: TableSelection) -> list[TableName]:
    """Return the tables that the settings select, sorted by schema and name."""
    names = _reflected_names(connection, selection)
    if names is None:
        names = _standard_names(connection, selection)
    return sorted({name for name in names if _is_chosen(name, selection)}, key=lambda name: (name.schema or "", name))


def describe_tables(
    connection: Connection, dialect: Dialect, names: Sequence[TableName]
) -> dict[TableName, SourceTable]:
    """Return the current descriptions of tables; those that no longer exist are left out."""
    found: dict[TableName, SourceTable] = {}
    for schema in dict.fromkeys(name.schema for name in names):
        wanted = [name.name for name in names if name.schema == schema]
        found.update(_describe_schema(connection, dialect, schema, wanted))
    return found


def _describe_schema(
    connection: Connection, dialect: Dialect, schema: str | None, names: Sequence[str]
) -> Mapping[TableName, SourceTable]:
    if connection.dialect.name not in ("postgresql", "mysql", "mariadb", "sqlite"):
        tables = ((TableName(schema, name), dialect.table(connection, TableName(schema, name))) for name in names)
        return {name: SourceTable(table) for name, table in tables if table is not None}
    inspector = sa.inspect(connection)
    kind: Any = sa.engine.reflection.ObjectKind.ANY
    columns = inspector.get_multi_columns(schema=schema, filter_names=names, kind=kind)
    keys = inspector.get_multi_pk_constraint(schema=schema, filter_names=names, kind=kind)
    stored = _stored(connection, schema)
    found: dict[TableName, SourceTable] = {}
    for (_, name), reflected in columns.items():
        constraint = keys.get((schema, name))
        key = tuple(constraint["constrained_columns"] or ()) if constraint else ()
        table = Table(TableName(schema, name), tuple(_column(one, key) for one in reflected), key)
        if reflected:
            found[table.name] = SourceTable(table, _numbered(connection, reflected, key), name in stored)
    return found


def _column(found: ReflectedColumn, key: Sequence[str]) -> Column:
    has_default = found.get("default") is not None or bool(found.get("identity") or found.get("computed"))
    # SQLite reports its keys as nullable.
    nullable = bool(found["nullable"]) and found["name"] not in key
    return Column(str(found["name"]), found["type"], nullable, has_default)


def _numbered(connection: Connection, columns: Iterable[ReflectedColumn], key: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the database numbers."""
    if connection.dialect.name == "sqlite":
        # An INTEGER PRIMARY KEY is an alias of the row's number.
        return tuple(
            one["name"] for one in columns if [one["name"]] == list(key) and isinstance(one["type"], sa.Integer)
        )
    return tuple(
        one["name"]
        for one in columns
        if one.get("autoincrement") is True or one.get("identity") or "nextval(" in str(one.get("default") or "")
    )


def _stored(connection: Connection, schema: str | None) -> frozenset[str]:
    """Return the ordinary tables of a PostgreSQL schema, whose rows have their own ``xmin``."""
    if connection.dialect.name != "postgresql":
        return frozenset()
    rows = connection.execute(
        sa.text(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p') AND n.nspname = coalesce(CAST(:schema AS text), current_schema())"
        ),
        {"schema": schema},
    )
    return frozenset(row[0] for row in rows)


def _reflected_names(connection: Connection, selection: TableSelection) -> list[TableName] | None:
    """Return all tables of the selected schemas, ``None`` if the dialect cannot list them."""
    if connection.dialect.name not in ("postgresql", "mysql", "mariadb", "sqlite"):
        return None
    inspector = sa.inspect(connection)
    partitions = _partitions(connection)
    names: list[TableName] = []
    for schema in _schemas(connection, inspector, selection):
        if "TABLE" in selection.types:
            names += [TableName(schema, name) for name in inspector.get_table_names(schema=schema)]
        if "VIEW" in selection.types:
            names += [TableName(schema, name) for name in inspector.get_view_names(schema=schema)]
    return [name for name in names if name not in partitions]


def _schemas(connection: Connection, inspector: sa.Inspector, selection: TableSelection) -> list[str | None]:
    if connection.dialect.name == "sqlite":
        return [None]
    if connection.dialect.name == "postgresql":
        pattern = selection.schema_pattern
        if pattern is None and selection.current_schema is not None:
            return [selection.current_schema]
        return [name for name in inspector.get_schema_names() if _is_like(name, pattern)]
    # MySQL has only one level of names, which Java's driver calls catalogs.
    pattern = selection.catalog_pattern or selection.schema_pattern
    if pattern is None:
        return [str(inspector.default_schema_name)]
    return [name for name in inspector.get_schema_names() if _is_like(name, pattern)]


def _is_like(name: str, pattern: str | None) -> bool:
    if not pattern:
        return _SYSTEM.fullmatch(name) is None
    text = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return compile_java(f"(?s){text}").fullmatch(name) is not None


def _partitions(connection: Connection) -> frozenset[TableName]:
    """Return PostgreSQL's partitions: their rows are read through the partitioned table."""
    if connection.dialect.name != "postgresql":
        return frozenset()
    rows = connection.execute(
        sa.text(
            "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relispartition"
        )
    )
    return frozenset(TableName(*row) for row in rows)


def _standard_names(connection: Connection, selection: TableSelection) -> list[TableName]:
    kinds = {"BASE TABLE": "TABLE", "TABLE": "TABLE", "VIEW": "VIEW"}
    current = connection.execute(sa.text("SELECT current_schema()")).scalar()
    return [
        TableName(None if schema == current else schema, name)
        for _, schema, name, kind in connection.execute(sa.text(_LIST_BY_STANDARD))
        if kinds.get(kind) in selection.types and _is_like(schema, selection.schema_pattern)
    ]


def _is_chosen(name: TableName, selection: TableSelection) -> bool:
    if selection.include:
        return any(_names(entry, name) for entry in selection.include)
    return not any(_names(entry, name) for entry in selection.exclude)


def _names(entry: str, name: TableName) -> bool:
    """Return whether a list's entry matches a table: exactly, or as a regular expression."""
    spellings = (name.name, str(name))
    if entry in spellings:
        return True
    try:
        expression = compile_java(entry)
    except IllegalArgumentError:
        return False
    return any(expression.fullmatch(spelling) is not None for spelling in spellings)
