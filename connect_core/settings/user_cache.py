"""The user's cache folder for downloads and for results derived from them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["user_cache"]


def user_cache() -> Path:
    """Return the folder: CONNECT_CACHE, else ``connect-core`` in the user's cache folder."""
    chosen = os.environ.get("CONNECT_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "connect-core"
