"""Libraries that only an extra of the wheel installs: imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from connect_core.errors import MissingLibraryError

__all__ = ["library"]


def library(module: str, extra: str) -> Any:
    """Import a module that an extra of connect-core installs. Raises MissingLibraryError naming the extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(error.name, extra) from error
