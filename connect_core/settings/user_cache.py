"""Where downloads and what is worked out of them are kept for a user."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["user_cache"]


def user_cache() -> Path:
    """Return the folder: CONNECT_CACHE, else ``connect-core`` among the user's caches."""
    chosen = os.environ.get("CONNECT_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "connect-core"
