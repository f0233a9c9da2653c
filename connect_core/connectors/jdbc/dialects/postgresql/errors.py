"""Removes row contents from PostgreSQL's errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

import psycopg

__all__ = ["first_sentence", "without_details"]

_REST = re.compile(r"\n\s*(?:DETAIL|HINT|QUERY|CONTEXT|STATEMENT|LOCATION|LINE \d+):")


def without_details(error: BaseException) -> None:
    """Reduce an error to its first sentence: DETAIL and CONTEXT contain rows, which logs and traces must not."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        error.args = (error.diag.message_primary,)


def first_sentence(text: str, details: Iterable[tuple[object, bytes]]) -> str:
    """Return the same for an ADBC error with this text and these details, on one line."""
    for key, value in details:
        if key in (b"PG_DIAG_MESSAGE_PRIMARY", "PG_DIAG_MESSAGE_PRIMARY"):
            return " ".join(value.decode("utf-8", "replace").split())
    return " ".join(_REST.split(text, maxsplit=1)[0].split())
