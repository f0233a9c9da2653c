"""Validates that a setting is a regular expression in Java's syntax."""

from __future__ import annotations

from typing import Any

from connect_core.errors import ConfigError, ConnectError
from connect_core.java.regex.pattern import compile_java

__all__ = ["RegexValidator"]


class RegexValidator:
    """Accepts a regular expression in Java's syntax."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for patterns that Java cannot compile."""
        if value is None:
            raise ConfigError(name, "null", "Invalid regex: there is none")
        try:
            compile_java(value)
        except ConnectError as error:
            raise ConfigError(name, value, f"Invalid regex: {error}") from error

    def __str__(self) -> str:
        return "valid regex"
