"""Validates that a list setting has elements."""

from __future__ import annotations

from typing import Any

from connect_core.api.data import to_text
from connect_core.errors import ConfigError

__all__ = ["NonEmptyListValidator"]


class NonEmptyListValidator:
    """Accepts a list with at least one element."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for the empty list."""
        if not value:
            raise ConfigError(name, to_text(value), "Empty list")

    def __str__(self) -> str:
        return "non-empty list"
