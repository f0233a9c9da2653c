"""The columns of a query: from the driver's description of its result, or, without one, from its first rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import sqlalchemy as sa
from pymysql.constants import FIELD_TYPE
from sqlalchemy import Connection
from sqlalchemy.dialects import mysql
from sqlalchemy.types import NullType, TypeEngine

from connect_core.connectors.jdbc.catalog import Column
from connect_core.connectors.jdbc.source.statements import select_query
from connect_core.connectors.jdbc.source.stream import Stream

__all__ = ["Untyped", "query_columns"]

_LOOKED_AT_ROWS = 1000


class Untyped(sa.Text):
    """The type of a column without a value so far, where only values show types: text, until there is one."""


def query_columns(connection: Connection, stream: Stream) -> list[Column]:
    """Return the columns of the stream's query; all are nullable."""
    dialect = connection.dialect.name
    is_described = dialect in ("postgresql", "mysql", "mariadb")
    result = connection.execute(select_query(stream, None if not is_described else 0))
    cursor: Any = result.cursor
    described = [tuple(one) if dialect != "postgresql" else one for one in cursor.description]
    if not is_described:
        return _guessed([one[0] for one in described], result.fetchmany(_LOOKED_AT_ROWS))
    describe = _postgresql_type if dialect == "postgresql" else _mysql_type
    columns = [Column(one[0], describe(connection, one)) for one in described]
    result.close()
    return columns


def _postgresql_type(connection: Connection, described: Any) -> TypeEngine[Any]:
    driver: Any = connection.connection.driver_connection
    info = driver.adapters.types.get(described.type_code)
    if info is None:
        return NullType()
    kind = _named_type(connection, info, described)
    return sa.ARRAY(kind) if described.type_code == info.array_oid else kind


def _named_type(connection: Connection, info: psycopg.types.TypeInfo, described: Any) -> TypeEngine[Any]:
    if info.name == "numeric":
        return sa.Numeric(described.precision, described.scale)
    if info.name in ("timestamptz", "timestamp"):
        return sa.DateTime(timezone=info.name == "timestamptz")
    if info.name == "timetz":
        return sa.Time(timezone=True)
    found: Any = getattr(connection.dialect, "ischema_names", {}).get(info.regtype or info.name)
    return found() if isinstance(found, type) else NullType()


_MYSQL: dict[int, TypeEngine[Any]] = {
    FIELD_TYPE.TINY: sa.SmallInteger(),
    FIELD_TYPE.SHORT: sa.Integer(),
    FIELD_TYPE.INT24: sa.Integer(),
    FIELD_TYPE.LONG: sa.BigInteger(),
    FIELD_TYPE.LONGLONG: sa.BigInteger(),
    FIELD_TYPE.YEAR: sa.SmallInteger(),
    FIELD_TYPE.FLOAT: sa.REAL(),
    FIELD_TYPE.DOUBLE: sa.Double(),
    FIELD_TYPE.DATE: sa.Date(),
    FIELD_TYPE.TIME: sa.Time(),
    FIELD_TYPE.DATETIME: sa.DateTime(),
    FIELD_TYPE.TIMESTAMP: mysql.TIMESTAMP(),
    FIELD_TYPE.BIT: sa.LargeBinary(),
}


def _mysql_type(connection: Connection, described: Sequence[Any]) -> TypeEngine[Any]:
    code, scale = described[1], described[5]
    if code in (FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL):
        return sa.Numeric(65, scale)
    return _MYSQL.get(code, NullType())


_CLASSES: tuple[tuple[type, TypeEngine[Any]], ...] = (
    (bool, sa.Boolean()),
    (int, sa.BigInteger()),
    (float, sa.Double()),
    (Decimal, sa.Numeric()),
    (datetime, sa.DateTime()),
    (date, sa.Date()),
    (time, sa.Time()),
    (timedelta, NullType()),
    (bytes, sa.LargeBinary()),
    (str, sa.Text()),
)


def _guessed(names: Iterable[str], rows: Sequence[Sequence[Any]]) -> list[Column]:
    return [
        Column(name, _guess([row[place] for row in rows if row[place] is not None])) for place, name in enumerate(names)
    ]


def _guess(values: Sequence[Any]) -> TypeEngine[Any]:
    """Return the common type of all values; text if there are several, but Double for integers and floats."""
    if not values:
        return Untyped()
    found = {next((kind for python, kind in _CLASSES if isinstance(value, python)), NullType()) for value in values}
    names = {type(kind) for kind in found}
    if names == {sa.BigInteger, sa.Double}:
        return sa.Double()
    return found.pop() if len(names) == 1 else sa.Text()
