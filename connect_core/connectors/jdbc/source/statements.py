"""Statements that read a stream: names quoted by SQLAlchemy, values bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import quoted_name

from connect_core.connectors.jdbc.source.positions import OrderPart, Position, Role
from connect_core.connectors.jdbc.source.stream import Stream

__all__ = ["Window", "is_settled", "select_oldest", "select_positions", "select_query", "select_rows"]

_XID_MASK, _FIRST_XID = 0xFFFF_FFFF, 3


@dataclass(frozen=True, slots=True)
class Window:
    """Selects rows after ``lower``, up to ``upper``, written by transactions in [``from_xmin``, ``to_xmin``).

    ``ranges``: only rows whose incrementing value is in one of these ranges, ends included.
    """

    lower: Position | None = None
    upper: Position | None = None
    from_xmin: int | None = None
    to_xmin: int | None = None
    ranges: tuple[tuple[int, int], ...] | None = None


def select_rows(stream: Stream, window: Window) -> sa.Select[Any]:
    """Return the statement that reads all columns of the window's rows in the stream's order."""
    source = _Source.of(stream)
    chosen = [_read(source, index) for index in range(len(stream.columns))]
    statement: sa.Select[Any] = sa.select(*chosen).select_from(source.rows).where(*_conditions(source, window))
    return statement.order_by(*(source.expression(part) for part in stream.order.parts))


def select_query(stream: Stream, rows: int | None = None) -> sa.Select[Any]:
    """Return a statement that reads all columns of a query, and at most ``rows`` rows."""
    statement: sa.Select[Any] = sa.select(sa.literal_column("*")).select_from(_Source.of(stream).rows)
    return statement if rows is None else statement.limit(rows)


def select_positions(stream: Stream, window: Window, is_last: bool = True) -> sa.Select[Any]:
    """Return the statement that reads the position of the window's last (or first) row."""
    source = _Source.of(stream)
    parts = [source.expression(part) for part in stream.order.parts]
    columns = [_as_text(part, one) for part, one in zip(stream.order.parts, parts, strict=True)]
    statement = sa.select(*(columns or [sa.literal_column("1")]))
    statement = statement.select_from(source.rows).where(*_conditions(source, window))
    return statement.order_by(*(one.desc() if is_last else one for one in parts)).limit(1)


def select_oldest(stream: Stream, window: Window, since: int) -> sa.Select[Any]:
    """Return the statement that reads the oldest transaction of the window's rows; none may come before ``since``."""
    source = _Source.of(stream)
    oldest = sa.func.max(sa.func.age(sa.literal_column("xmin")))
    statement: sa.Select[Any] = sa.select(_bound_int(since) + (_age_of(since) - oldest))
    return statement.select_from(source.rows).where(*_conditions(source, window))


def is_settled(xmin: int) -> sa.ColumnElement[bool]:
    """Return the condition that a row's transaction came before this one.

    Ages compare correctly across the wraparound of transaction ids; a negative one is that of a row frozen long ago.
    """
    age = sa.func.age(sa.literal_column("xmin"))
    return sa.or_(age > _age_of(xmin), age < 0)


def _is_new(xmin: int) -> sa.ColumnElement[bool]:
    age = sa.func.age(sa.literal_column("xmin"))
    return sa.or_(sa.and_(age <= _age_of(xmin), age >= 0), _age_of(xmin) < 0)


def _age_of(xmin: int) -> sa.ScalarSelect[Any]:
    # A subquery is computed once per statement, a stable function for each row.
    text = str(max(_FIRST_XID, xmin & _XID_MASK))
    xid = sa.cast(sa.bindparam(None, text, sa.Text(), unique=True), _Xid())
    return sa.select(sa.func.age(xid)).scalar_subquery()


class _Xid(sa.types.UserDefinedType[Any]):
    """PostgreSQL's type of transaction ids."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:
        return "xid"


@dataclass(frozen=True, slots=True)
class _Source:
    """What a statement reads from, under an alias of its own.

    All columns are qualified by it: ORDER BY resolves a bare name to a column of the result first, and a table may have
    a column of that name.
    """

    stream: Stream
    rows: sa.FromClause

    @classmethod
    def of(cls, stream: Stream) -> _Source:
        """Return the table or query of a stream."""
        columns: list[sa.ColumnClause[Any]] = [
            sa.column(_name(stream, name)) for name in dict.fromkeys(one.name for one in stream.columns)
        ]
        if stream.name.table is None:
            # The query ends on its own line: its last line may be a comment. A colon would begin a parameter.
            text = sa.text("\n" + stream.query.replace(":", r"\:") + "\n")
            return cls(stream, text.columns(*columns).subquery("connect_query"))
        name = stream.name.table
        schema = None if name.schema is None else _name(stream, name.schema)
        return cls(stream, sa.table(_name(stream, name.name), *columns, schema=schema).alias("connect_rows"))

    def column(self, name: str) -> sa.ColumnElement[Any]:
        """Return a column by name."""
        return self.rows.c[name]

    def expression(self, part: OrderPart) -> sa.ColumnElement[Any]:
        """Return what a part of the order compares."""
        columns = [self.column(column.name) for column in part.columns]
        return columns[0] if len(columns) == 1 else sa.func.coalesce(*columns)


def _name(stream: Stream, name: str) -> quoted_name:
    return quoted_name(name, stream.is_quoting)


def _read(source: _Source, index: int) -> sa.ColumnElement[Any]:
    column = source.stream.columns[index]
    named = source.column(column.name)
    # The label distinguishes columns whose names a driver would confuse; values are read by index.
    return (sa.cast(named, sa.Text()) if column.is_text else named).label(f"c{index}")


def _as_text(part: OrderPart, expression: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.cast(expression, sa.Text()) if part.column.is_text else expression


def _conditions(source: _Source, window: Window) -> list[sa.ColumnElement[bool]]:
    parts = source.stream.order.parts
    found: list[sa.ColumnElement[bool]] = []
    if window.lower is not None:
        found.append(_behind(source, parts, window.lower))
    elif parts and parts[0].role is not Role.KEY and all(column.schema.optional for column in parts[0].columns):
        found.append(source.expression(parts[0]).is_not(None))
    if window.upper is not None:
        found.append(_up_to(source, parts, window.upper))
    if window.to_xmin is not None:
        found.append(is_settled(window.to_xmin))
    if window.from_xmin is not None:
        found.append(_is_new(window.from_xmin))
    return found + _ranges(source, window)


def _ranges(source: _Source, window: Window) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if window.ranges is not None:
        number = source.expression(source.stream.order.parts[-1])
        found.append(sa.or_(*(number.between(_bound_int(low), _bound_int(high)) for low, high in window.ranges)))
    if source.stream.name.is_range:
        key = source.column(source.stream.key[0].name)
        low, high = source.stream.name.low, source.stream.name.high
        found += [key >= _bound_int(low)] if low is not None else []
        found += [key < _bound_int(high)] if high is not None else []
    return found


def _behind(source: _Source, parts: Sequence[OrderPart], position: Position) -> sa.ColumnElement[bool]:
    """Return the condition that a row comes after a position."""
    expression, value = source.expression(parts[0]), _bound(parts[0], position[0])
    if len(position) == 1:
        return expression > value
    # The condition on the first part alone lets the database use an index.
    deeper = sa.and_(expression == value, _behind(source, parts[1:], position[1:]))
    return sa.and_(expression >= value, sa.or_(expression > value, deeper))


def _up_to(source: _Source, parts: Sequence[OrderPart], position: Position) -> sa.ColumnElement[bool]:
    expression, value = source.expression(parts[0]), _bound(parts[0], position[0])
    if len(position) == 1:
        return expression <= value
    deeper = sa.and_(expression == value, _up_to(source, parts[1:], position[1:]))
    return sa.and_(expression <= value, sa.or_(expression < value, deeper))


def _bound_int(value: int) -> sa.BindParameter[Any]:
    return sa.bindparam(None, value, sa.BigInteger(), unique=True)


def _bound(part: OrderPart, value: Any) -> sa.ColumnElement[Any]:
    if part.column.is_text or isinstance(value, Decimal):
        return sa.cast(sa.bindparam(None, str(value), sa.String(), unique=True), part.column.type)
    if isinstance(value, datetime):
        return sa.bindparam(None, value, sa.DateTime(timezone=value.tzinfo is not None), unique=True)
    kind = next((kind for python, kind in _TYPES if isinstance(value, python)), sa.types.NullType())
    return sa.bindparam(None, value, kind, unique=True)


_TYPES: tuple[tuple[type, sa.types.TypeEngine[Any]], ...] = (
    (bool, sa.Boolean()),
    (int, sa.BigInteger()),
    (str, sa.String()),
    (float, sa.Double()),
    (date, sa.Date()),
    (time, sa.Time()),
    (bytes, sa.LargeBinary()),
)
