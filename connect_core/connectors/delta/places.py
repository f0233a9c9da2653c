"""Where tables are, and that the worker allows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_folder
from connect_core.connectors.allowed_host import ensure_allowed_host
from connect_core.connectors.delta.config import OPTIONS_PREFIX, PATH, Settings
from connect_core.connectors.lake.decisions import plain_name
from connect_core.connectors.lake.routing import TableName
from connect_core.errors import ConfigError

__all__ = ["Places", "places_of"]

_SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "abfss", "adl")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


@dataclass(frozen=True, slots=True)
class Places:
    """A root, and what is needed to reach it."""

    root: str
    options: Mapping[str, str]

    def table(self, name: TableName) -> str:
        """Return where a table is; a name that is hidden, or not fit for a URL, ends in a hash."""
        folder = name[-1] if _FOLDER.match(name[-1]) else plain_name(f"t {name[-1]}")
        return f"{self.root}/{folder}"

    def control(self, connector: str) -> str:
        """Return where a connector's state is."""
        return f"{self.root}/_connect/{plain_name(connector)}"


def places_of(settings: Settings, limits: WorkerLimits) -> Places:
    """Return the places of a configuration. Raises ConfigError for one that the worker does not allow."""
    for key, value in settings.options.items():
        if _ADDRESS.match(value):
            ensure_allowed_host(OPTIONS_PREFIX + key, urlsplit(value).hostname or "", limits)
    place = urlsplit(settings.path)
    if place.scheme in _SCHEMES:
        return Places(settings.path.rstrip("/"), settings.options)
    if place.scheme not in ("", "file"):
        raise ConfigError(PATH, settings.path, f"give a folder, or a URL of {', '.join(_SCHEMES)}")
    path = unquote(place.path) if place.scheme else settings.path
    return Places(str(allowed_folder(PATH, path, limits)), settings.options)
