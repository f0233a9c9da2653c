"""A record transform as a user writes it; installed as a distribution of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from connect_core.api.config import ConfigDef
from connect_core.api.records import Record
from connect_core.api.transform import Transformation


class PythonMask(Transformation):
    """Blank the field ``ssn`` of a map."""

    def config(self) -> ConfigDef:
        """Return no settings."""
        return ConfigDef()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Take no settings."""

    def apply(self, record: Record) -> Record:
        """Return the record without the number."""
        return replace(record, value={**record.value, "ssn": ""})
