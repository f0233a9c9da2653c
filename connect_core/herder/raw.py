"""Configurations as they are sent."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RawConfig"]

RawConfig = Mapping[str, str | None]
"""A configuration as it was sent; a null is what JSON's null was."""
