"""DropHeaders: remove headers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance, ValidList
from connect_core.api.headers import Headers
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.transforms.support.batch_headers import with_changed_headers

__all__ = ["DropHeaders"]

HEADERS = "headers"

CONFIG = ConfigDef().define(
    HEADERS,
    ConfigType.LIST,
    validator=ValidList.any_non_duplicate_values(False, False),
    importance=Importance.HIGH,
    doc="Names of the headers to remove, exactly as they are written.",
)


class DropHeaders(Transformation):
    """Removes all headers with certain names. Connect: ``DropHeaders``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        self._names = frozenset(CONFIG.parse(configs)[HEADERS])

    def apply(self, record: Record) -> Record:
        """Remove the headers of one record."""
        return replace(record, headers=self._kept(record.headers))

    def _kept(self, headers: Headers) -> Headers:
        return Headers(header for header in headers if header.key not in self._names)

    def apply_batch(self, batch: Batch) -> Batch:
        """Remove the headers of all rows."""
        return with_changed_headers(batch, self._kept)
