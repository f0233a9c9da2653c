"""PostgreSQL's errors without the rows they speak of."""

from __future__ import annotations

import psycopg

__all__ = ["without_details"]


def without_details(error: BaseException) -> None:
    """Reduce an error to its first sentence: DETAIL and CONTEXT hold rows, which must not get into logs and traces."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        error.args = (error.diag.message_primary,)
