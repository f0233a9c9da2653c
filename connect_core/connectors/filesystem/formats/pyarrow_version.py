"""Checks for features that only newer versions of pyarrow have."""

from __future__ import annotations

import pyarrow as pa

from connect_core.errors import ConfigError

__all__ = ["ensure_pyarrow"]


def ensure_pyarrow(least: int, key: str, value: str) -> None:
    """Raise ConfigError if a setting needs pyarrow ``least`` or later, and an older one is installed."""
    if int(pa.__version__.partition(".")[0]) < least:
        raise ConfigError(
            key, value, f"it needs pyarrow {least} on driver and workers; this machine has {pa.__version__}"
        )
