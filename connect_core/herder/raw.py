"""Configurations as they are sent."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RawConfig"]

RawConfig = Mapping[str, str | None]
"""A configuration as it was sent; ``None`` stands for JSON's null."""
