"""The database's clock as SQL: leases and times never depend on a worker's clock."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import FunctionElement

from connect_core.store.types import Moment

__all__ = ["age", "later", "now"]


class now(FunctionElement[datetime]):
    """The time by the database's clock when the statement runs."""

    type = Moment()
    name = "connect_now"
    inherit_cache = True


class _Later(FunctionElement[datetime]):
    type = Moment()
    name = "connect_later"
    inherit_cache = True


class _Age(FunctionElement[float]):
    type = Float()
    name = "connect_age"
    inherit_cache = True


def later(seconds: float) -> ColumnElement[datetime]:
    """Return the database's time plus so many seconds."""
    return _Later(literal(float(seconds), Float()))


def age(moment: Any) -> ColumnElement[float]:
    """Return how many seconds ago ``moment`` was by the database's clock."""
    return _Age(moment)


@compiles(now, "postgresql")
def _now_postgresql(element: now, compiler: SQLCompiler, **options: Any) -> str:
    return "clock_timestamp()"


@compiles(now, "sqlite")
def _now_sqlite(element: now, compiler: SQLCompiler, **options: Any) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f', 'now')"


@compiles(_Later, "postgresql")
def _later_postgresql(element: _Later, compiler: SQLCompiler, **options: Any) -> str:
    return f"(clock_timestamp() + make_interval(secs => {compiler.process(element.clauses, **options)}))"


@compiles(_Later, "sqlite")
def _later_sqlite(element: _Later, compiler: SQLCompiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', {seconds}))"


@compiles(_Age, "postgresql")
def _age_postgresql(element: _Age, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST(EXTRACT(EPOCH FROM clock_timestamp() - {compiler.process(element.clauses, **options)}) AS float8)"


@compiles(_Age, "sqlite")
def _age_sqlite(element: _Age, compiler: SQLCompiler, **options: Any) -> str:
    return f"((julianday('now') - julianday({compiler.process(element.clauses, **options)})) * 86400.0)"
