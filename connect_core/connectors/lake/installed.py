"""Checks that the library of a sink, which is an optional dependency, is installed."""

from __future__ import annotations

from importlib.util import find_spec

from connect_core.errors import ConnectError

__all__ = ["ensure_installed"]


def ensure_installed(package: str, sink: str, extra: str) -> None:
    """Raise ConnectError naming the extra if a package is missing."""
    if find_spec(package) is None:
        raise ConnectError(f"{sink} needs {package}, which is not installed: pip install 'connect-core[{extra}]'")
