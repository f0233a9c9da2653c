"""Filter: drop records; meant to be used with a predicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef
from connect_core.api.records import Record
from connect_core.api.transform import Transformation

__all__ = ["Filter"]

CONFIG = ConfigDef()


class Filter(Transformation):
    """Drops every record it gets. Connect: ``Filter``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform: none."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing: there are no settings."""

    def apply(self, record: Record) -> Record | None:
        """Drop one record."""
        return None

    def apply_batch(self, batch: Batch) -> Batch:
        """Drop all rows."""
        return batch.take(pa.array([], pa.int64()))
