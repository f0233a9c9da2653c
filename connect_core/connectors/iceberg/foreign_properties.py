"""What a catalog's server or a table says of itself: it loads no code, and names no host or folder not allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.iceberg.catalog_properties import OWN_IO, check_hosts, ensure_allowed_location
from connect_core.errors import ConfigError

__all__ = ["ensure_harmless"]

_CODE = frozenset({"auth", "py-catalog-impl", "py-io-impl", "s3.retry-strategy-impl"})
_CODE_ENDING = ".py-location-provider.impl"
"""Properties by which pyiceberg imports what they name, and calls it."""
_CALLED = ("adls.", "client.", "dynamodb.", "gcs.", "glue.", "hdfs.", "oauth2", "rest.", "s3.", "uri")
_FOLDERS = frozenset(
    {"write.data.path", "write.folder-storage.path", "write.metadata.path", "write.object-storage.path"}
)


def ensure_harmless(prefix: str, properties: Mapping[str, Any], limits: WorkerLimits) -> None:
    """Raise ConfigError for a property that would load code, or names a host or folder that is not allowed.

    prefix: of the setting that the error names.
    """
    for key, value in properties.items():
        if (key in _CODE or key.endswith(_CODE_ENDING)) and not (key == "py-io-impl" and value in OWN_IO):
            text = "it names code to load; remove it from the configuration, the table, or what the catalog answers"
            raise ConfigError(f"{prefix}{key}", value if isinstance(value, str) else "(not shown)", text)
        if key in _FOLDERS:
            ensure_allowed_location(str(value), limits, f"{prefix}{key}")
    called = {key: str(value) for key, value in properties.items() if key.startswith(_CALLED)}
    check_hosts(called, limits)
