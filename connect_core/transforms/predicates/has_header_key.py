"""HasHeaderKey: whether a record has a header with a certain name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance, NonEmptyString
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord
from connect_core.api.transform import Predicate

__all__ = ["HasHeaderKey"]

NAME = "name"

CONFIG = ConfigDef().define(
    NAME,
    ConfigType.STRING,
    validator=NonEmptyString(),
    importance=Importance.MEDIUM,
    doc="Name of the header, exactly as it is written.",
)


class HasHeaderKey(Predicate):
    """True for records with at least one header of that name. Connect: ``HasHeaderKey``."""

    def config(self) -> ConfigDef:
        """Return the settings of this predicate."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        self._name = CONFIG.parse(configs)[NAME]

    def test(self, record: ConnectRecord) -> bool:
        """Return whether one record has the header."""
        return self._has(record.headers)

    def _has(self, headers: Headers) -> bool:
        return headers.last_with_name(self._name) is not None

    def test_batch(self, batch: Batch) -> pa.BooleanArray:
        """Return a mask of the rows that have the header."""
        if batch.headers is None:
            return pa.repeat(False, len(batch))
        return pa.array(list(map(self._has, batch.headers)), pa.bool_())
