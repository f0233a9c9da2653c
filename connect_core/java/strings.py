"""Java's ``String.trim``."""

from __future__ import annotations

__all__ = ["is_blank", "trim"]

_BLANKS = "".join(map(chr, range(33)))


def trim(text: str) -> str:
    """Return a text without control characters and spaces at its ends."""
    return text.strip(_BLANKS)


def is_blank(text: str) -> bool:
    """Return whether a text consists only of control characters and spaces."""
    return not trim(text)
