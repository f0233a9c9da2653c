"""Patterns of topic names: Java's regular expressions."""

from __future__ import annotations

from typing import Any

from connect_core.errors import ConfigError, IllegalArgumentError
from connect_core.java.regex.pattern import JavaPattern, compile_java, refusal

__all__ = ["RegexValidator", "compile_pattern"]

_LONGEST = 1000


class RegexValidator:
    """A regular expression."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError, with Java's message if it is known."""
        try:
            compile_pattern(value or "")
        except ConfigError as error:
            raise ConfigError(name, value, f"Invalid regex: {error}") from error

    def __str__(self) -> str:
        return "valid regex"


def compile_pattern(pattern: str) -> JavaPattern:
    """Compile a Java pattern, which must match a name as a whole. Raise ConfigError."""
    if len(pattern) > _LONGEST:
        raise ConfigError(f"The pattern is longer than {_LONGEST} characters: name the topics instead")
    try:
        return compile_java(pattern)
    except IllegalArgumentError as error:
        raise ConfigError(_java_message(pattern) or str(error)) from error


def _java_message(pattern: str) -> str | None:
    """Return Java's message for a pattern that Python rejects as well."""
    try:
        found = refusal(pattern)
    except IllegalArgumentError:
        return None
    return None if found is None else _described(pattern, *found)


def _described(pattern: str, why: str, at: int) -> str:
    description, index = {
        "unterminated character set": ("Unclosed character class", len(pattern) - 1),
        "missing ), unterminated subpattern": ("Unclosed group", len(pattern)),
        "unbalanced parenthesis": ("Unmatched closing ')'", max(at - 1, 0)),
        "nothing to repeat": (f"Dangling meta character '{pattern[at : at + 1]}'", at),
    }.get(why, (why, at))
    caret = f"\n{' ' * index}^" if index < len(pattern) else ""
    return f"{description} near index {index}\n{pattern}{caret}"
