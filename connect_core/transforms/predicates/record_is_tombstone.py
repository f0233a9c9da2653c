"""RecordIsTombstone: whether a record's value is null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef
from connect_core.api.records import ConnectRecord
from connect_core.api.transform import Predicate

__all__ = ["RecordIsTombstone"]

CONFIG = ConfigDef()


class RecordIsTombstone(Predicate):
    """True for records whose value is null. Connect: ``RecordIsTombstone``."""

    def config(self) -> ConfigDef:
        """Return the settings of this predicate: none."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing: there are no settings."""

    def test(self, record: ConnectRecord) -> bool:
        """Return whether one record's value is null."""
        return record.value is None

    def test_batch(self, batch: Batch) -> pa.BooleanArray:
        """Return a mask of the rows with a null value."""
        if isinstance(batch.value, Columns):
            return batch.value.array.is_null()
        return pa.array([value is None for value in batch.value.values], pa.bool_())
