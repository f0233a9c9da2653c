"""Colon-separated pairs in list settings, cut as Java's ``String.split`` cuts them."""

from __future__ import annotations

from collections.abc import Iterable

from connect_core.api.data import to_text
from connect_core.errors import ConfigError

__all__ = ["invalid_mapping", "split_pair"]


def split_pair(text: str) -> list[str]:
    """Return the parts between colons; empty ones at the end are not counted."""
    parts = text.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts if parts != [""] or not text else []


def invalid_mapping(mappings: Iterable[str], mapping: str) -> ConfigError:
    """Return the error for a mapping that is no pair; Connect names ``renames`` wherever it stands."""
    return ConfigError("renames", to_text(list(mappings)), f"Invalid rename mapping: {mapping}")
