"""Translates errors of the database to connect-core's own, which tell whether to retry, and the remedy."""

from __future__ import annotations

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError, TimeoutError

from connect_core.errors import ConnectError, RetriableError, UnclearOutcomeError

__all__ = ["as_connect_error", "shown", "unclear_commit"]

_SECRET = ("pass", "secret", "key", "token")
_BUSY = {"40001", "40P01", "55P03", "57014"}
_MISSING = {"42P01", "42703"}


def shown(url: URL) -> str:
    """Return the URL without its password or any other secret."""
    query = {name: value for name, value in url.query.items() if not any(word in name.lower() for word in _SECRET)}
    return url.set(query=query).render_as_string(hide_password=True)


def as_connect_error(error: SQLAlchemyError, url: URL) -> ConnectError:
    """Return the error to raise in place of the driver's."""
    text = _first_line(error)
    state = _state(error)
    if state in _MISSING or "no such table" in text or "no such column" in text:
        return ConnectError(
            f"The metadata database {shown(url)} lacks connect-core's tables or has outdated ones ({text}). "
            "Run its migrations: `connect distributed` and `connect standalone` do this when they start."
        )
    if state in _BUSY or "database is locked" in text:
        return RetriableError(f"The metadata database {shown(url)} is busy ({text}). The call can be retried.")
    if isinstance(error, OperationalError | InterfaceError | TimeoutError) or _is_gone(error):
        return RetriableError(
            f"The metadata database {shown(url)} cannot be used ({text}). "
            "Start it, or correct its address, and check that this user may use it."
        )
    return ConnectError(f"The metadata database {shown(url)} refused a statement: {text}")


def unclear_commit(error: SQLAlchemyError, url: URL) -> ConnectError:
    """Return the error of a failed COMMIT: unclear when the connection was lost."""
    if _is_gone(error):
        return UnclearOutcomeError(
            f"The connection to the metadata database {shown(url)} was lost during a commit "
            f"({_first_line(error)}): it may or may not have succeeded. Read before writing again."
        )
    return as_connect_error(error, url)


def _is_gone(error: SQLAlchemyError) -> bool:
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _state(error: SQLAlchemyError) -> str | None:
    cause = error.orig if isinstance(error, DBAPIError) else None
    return getattr(cause, "sqlstate", None)


def _first_line(error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return next(iter(str(cause).splitlines()), type(cause).__name__)
