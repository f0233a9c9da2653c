"""Patterns of topic names: Java's regular expressions."""

from __future__ import annotations

import re
from typing import Any

from connect_core.errors import ConfigError, IllegalArgumentError
from connect_core.transforms.java_regex import compile_java

__all__ = ["RegexValidator", "compile_pattern"]

_LONGEST = 1000


class RegexValidator:
    """A regular expression."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError, in Java's words where they are known."""
        try:
            compile_pattern(value or "")
        except ConfigError as error:
            raise ConfigError(name, value, f"Invalid regex: {error}") from error

    def __str__(self) -> str:
        return "valid regex"


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a Java pattern; names must match it whole. Raise ConfigError."""
    if len(pattern) > _LONGEST:
        raise ConfigError(f"The pattern is longer than {_LONGEST} characters: name the topics instead")
    try:
        return compile_java(pattern)
    except IllegalArgumentError as error:
        raise ConfigError(_java_message(pattern) or str(error)) from error


def _java_message(pattern: str) -> str | None:
    """Return what Java says of a pattern that Python refuses as well."""
    try:
        re.compile(pattern)
    except re.error as error:
        return _described(pattern, error)
    return None


def _described(pattern: str, error: re.error) -> str:
    at = error.pos or 0
    description, index = {
        "unterminated character set": ("Unclosed character class", len(pattern) - 1),
        "missing ), unterminated subpattern": ("Unclosed group", len(pattern)),
        "unbalanced parenthesis": ("Unmatched closing ')'", max(at - 1, 0)),
        "nothing to repeat": (f"Dangling meta character '{pattern[at : at + 1]}'", at),
    }.get(error.msg, (error.msg, at))
    caret = f"\n{' ' * index}^" if index < len(pattern) else ""
    return f"{description} near index {index}\n{pattern}{caret}"
