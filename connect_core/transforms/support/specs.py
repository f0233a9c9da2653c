"""Colon-separated pairs in list settings, split as by Java's ``String.split``."""

from __future__ import annotations

from collections.abc import Iterable

from connect_core.api.data import to_text
from connect_core.errors import ConfigError

__all__ = ["invalid_mapping", "split_pair"]


def split_pair(text: str) -> list[str]:
    """Return the parts between colons, without empty ones at the end."""
    parts = text.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts if parts != [""] or not text else []


def invalid_mapping(mappings: Iterable[str], mapping: str) -> ConfigError:
    """Return the error for a mapping that is not a pair; Connect always names ``renames`` as the setting."""
    return ConfigError("renames", to_text(list(mappings)), f"Invalid rename mapping: {mapping}")
