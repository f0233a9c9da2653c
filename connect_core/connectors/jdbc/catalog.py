"""The description of tables in a database: columns, types, primary keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import mysql
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import DBAPIError, NoSuchTableError, UnsupportedCompilationError
from sqlalchemy.types import NullType, TypeEngine

__all__ = ["BINARY_TYPES", "Column", "Table", "TableName", "has_reflection", "look_up", "look_up_by_standard"]

BINARY_TYPES: tuple[type[TypeEngine[Any]], ...] = (
    sa.LargeBinary,
    sa.BINARY,
    sa.VARBINARY,
    mysql.TINYBLOB,
    mysql.MEDIUMBLOB,
    mysql.LONGBLOB,
)
"""The types of bytes; SQLAlchemy has no public base class of them all."""


class TableName(NamedTuple):
    """A table's name; without a schema the database's own lookup rules apply."""

    schema: str | None
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``has_default`` includes generated values (identity, serial)."""

    name: str
    type: TypeEngine[Any]
    nullable: bool = True
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The current state of a table; ``unique``: further sets of columns that identify a row."""

    name: TableName
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[frozenset[str], ...] = ()

    def column(self, name: str) -> Column | None:
        """Return a column by its exact name."""
        return next((column for column in self.columns if column.name == name), None)

    def is_identified_by(self, names: Sequence[str]) -> bool:
        """Return whether a primary key or unique constraint has exactly these columns."""
        return frozenset(names) in {frozenset(self.primary_key), *self.unique} - {frozenset()}

    def to_sqlalchemy(self) -> sa.Table:
        """Return the table for SQLAlchemy's statements."""
        columns = (sa.Column(sa.sql.quoted_name(one.name, None), one.type) for one in self.columns)
        return sa.Table(self.name.name, sa.MetaData(), *columns, schema=self.name.schema)


def look_up(connection: Connection, name: TableName) -> Table | None:
    """Return a table or view, or ``None`` if there is none of this name."""
    inspector = sa.inspect(connection)
    try:
        columns = tuple(_column(found) for found in inspector.get_columns(name.name, schema=name.schema))
    except NoSuchTableError:
        return None
    key = inspector.get_pk_constraint(name.name, schema=name.schema).get("constrained_columns") or ()
    return Table(name, columns, tuple(key), _unique(inspector, name)) if columns else None


def has_reflection(connection: Connection) -> bool:
    """Return whether the SQLAlchemy dialect can describe this server's tables; a failure ends the transaction."""
    try:
        look_up(connection, TableName(None, "connect_reflection_probe"))
    except (DBAPIError, NotImplementedError, UnsupportedCompilationError):
        return False
    return True


def _column(found: ReflectedColumn) -> Column:
    has_default = found.get("default") is not None or bool(found.get("identity") or found.get("computed"))
    return Column(str(found["name"]), found["type"], bool(found["nullable"]), has_default)


def _unique(inspector: sa.Inspector, name: TableName) -> tuple[frozenset[str], ...]:
    try:
        found = inspector.get_unique_constraints(name.name, schema=name.schema)
    except NotImplementedError:
        return ()
    return tuple(frozenset(constraint["column_names"]) for constraint in found)


def look_up_by_standard(connection: Connection, name: TableName) -> Table | None:
    """Return a table or view described by SQL's standard ``information_schema``, or ``None``."""
    where = "table_name = :name AND table_schema = " + (":schema" if name.schema else "current_schema()")
    values = {"name": name.name} | ({"schema": name.schema} if name.schema else {})
    rows = connection.execute(
        sa.text(
            "SELECT column_name, data_type, is_nullable, column_default, numeric_precision, numeric_scale "
            f"FROM information_schema.columns WHERE {where} ORDER BY ordinal_position"
        ),
        values,
    ).all()
    if not rows:
        return None
    keys = connection.execute(
        sa.text(
            "SELECT constraints.constraint_type, constraints.constraint_name, used.column_name "
            "FROM information_schema.table_constraints AS constraints "
            "JOIN information_schema.key_column_usage AS used "
            "ON used.constraint_name = constraints.constraint_name "
            "AND used.table_schema = constraints.table_schema AND used.table_name = constraints.table_name "
            f"WHERE {where.replace('table_', 'constraints.table_')} ORDER BY used.ordinal_position"
        ),
        values,
    ).all()
    columns = tuple(
        Column(row[0], _standard_type(connection, row[1], (row[4], row[5])), row[2] == "YES", row[3] is not None)
        for row in rows
    )
    unique: dict[str, set[str]] = {}
    for kind, constraint, column in keys:
        if kind == "UNIQUE":
            unique.setdefault(constraint, set()).add(column)
    primary = tuple(column for kind, _, column in keys if kind == "PRIMARY KEY")
    return Table(name, columns, primary, tuple(map(frozenset, unique.values())))


_STANDARD: dict[str, TypeEngine[Any]] = {
    "BIGINT": sa.BigInteger(),
    "BINARY": sa.LargeBinary(),
    "BINARY LARGE OBJECT": sa.LargeBinary(),
    "BLOB": sa.LargeBinary(),
    "BOOLEAN": sa.Boolean(),
    "CHAR": sa.String(),
    "CHARACTER": sa.String(),
    "CHARACTER VARYING": sa.String(),
    "DATE": sa.Date(),
    "DOUBLE": sa.Double(),
    "DOUBLE PRECISION": sa.Double(),
    "FLOAT": sa.REAL(),
    "INTEGER": sa.Integer(),
    "REAL": sa.REAL(),
    "SMALLINT": sa.SmallInteger(),
    "TEXT": sa.Text(),
    "TIME": sa.Time(),
    "TIMESTAMP": sa.DateTime(),
    "TIMESTAMP WITH TIME ZONE": sa.DateTime(timezone=True),
    "TIMESTAMP WITHOUT TIME ZONE": sa.DateTime(),
    "TINYINT": sa.SmallInteger(),
    "VARBINARY": sa.LargeBinary(),
    "VARCHAR": sa.String(),
}
"""Names of types in the SQL standard, and the common short ones."""


def _standard_type(connection: Connection, text: str, digits: tuple[int | None, int | None]) -> TypeEngine[Any]:
    name = text.split("(")[0].strip().upper()
    if name in ("DECIMAL", "NUMERIC"):
        return sa.Numeric(*digits)
    known = _STANDARD.get(name)
    if known is not None:
        return known
    own = getattr(connection.dialect, "ischema_names", {}).get(name.lower())
    return own() if isinstance(own, type) and issubclass(own, TypeEngine) else NullType()
