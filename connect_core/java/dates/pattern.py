"""The pattern language of Java's SimpleDateFormat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from connect_core.errors import IllegalArgumentError

__all__ = ["Letters", "compile_pattern"]

_TOKEN = re.compile(r"''|'|(?P<letter>[A-Za-z])(?P=letter)*|[^A-Za-z']+")
_KNOWN = frozenset("GyMdkHmsSEDFwWahKzZYuXL")
_NUMERIC = frozenset("ydkHmsSDFwWhKYu")


@dataclass(frozen=True, slots=True)
class Letters:
    """A run of one pattern letter; ``exact`` when digits follow without a delimiter."""

    letter: str
    count: int
    exact: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether the field is written in digits."""
        return self.letter in _NUMERIC or (self.letter in "ML" and self.count <= 2)


def compile_pattern(pattern: str) -> tuple[Letters | str, ...]:
    """Return the fields of a pattern and the literal texts between them.

    Raise IllegalArgumentError for unknown letters and open quotes.
    """
    parts = list(_parts(pattern))
    following = [*parts[1:], ""] if parts else []
    return tuple(
        Letters(part.letter, part.count, isinstance(after, Letters) and after.is_numeric)
        if isinstance(part, Letters)
        else part
        for part, after in zip(parts, following, strict=True)
    )


def _parts(pattern: str) -> Iterator[Letters | str]:
    literal = ""
    for token in _tokens(pattern):
        if isinstance(token, str):
            literal += token
            continue
        if literal:
            yield literal
            literal = ""
        yield token
    if literal:
        yield literal


def _tokens(pattern: str) -> Iterator[Letters | str]:
    quoted = False
    for match in _TOKEN.finditer(pattern):
        text = match.group()
        if text == "'":
            quoted = not quoted
        elif text == "''":
            yield "'"
        elif match["letter"] and not quoted:
            yield _letters(text[0], len(text))
        else:
            yield text
    if quoted:
        raise IllegalArgumentError("Unterminated quote")


def _letters(letter: str, count: int) -> Letters:
    if letter not in _KNOWN:
        raise IllegalArgumentError(f"Illegal pattern character '{letter}'")
    if letter == "X" and count > 3:
        raise IllegalArgumentError(f"invalid ISO 8601 format: length={count}")
    return Letters(letter, count)
