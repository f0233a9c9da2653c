"""What only newer versions of pyarrow can do."""

from __future__ import annotations

import pyarrow as pa

from connect_core.errors import ConfigError

__all__ = ["ensure_pyarrow"]


def ensure_pyarrow(least: int, key: str, value: str) -> None:
    """Raise ConfigError if a setting asks for what pyarrow has from version ``least`` on, and an older one is here."""
    if int(pa.__version__.partition(".")[0]) < least:
        raise ConfigError(key, value, f"it needs pyarrow {least} on driver and workers, here is {pa.__version__}")
