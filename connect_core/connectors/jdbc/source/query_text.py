"""Checks the ``query`` setting: exactly one SELECT."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

__all__ = ["refusal"]

_WRITING = (exp.Into, exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Command, exp.Copy)
_DIALECTS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite", "duckdb": "duckdb"}


def refusal(query: str, dialect: str) -> str | None:
    """Return why a text is not a single query that changes nothing, ``None`` if it is one.

    In addition, it runs in a read-only transaction, if the database supports these.
    """
    try:
        statements = sqlglot.parse(query, read=_DIALECTS.get(dialect))
    except SqlglotError as error:
        return f"it cannot be read: {_first_line(error)}"
    if len(statements) != 1 or query.rstrip().endswith(";"):
        return "it must be one statement, without a semicolon"
    statement = statements[0]
    if not isinstance(statement, exp.Query) or any(True for _ in statement.find_all(*_WRITING)):
        return "it must be a SELECT that changes nothing"
    return None


def _first_line(error: SqlglotError) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
