"""Single message transforms and the predicates that guard them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef
from connect_core.api.records import ConnectRecord, Record

__all__ = ["Predicate", "Transformation"]


class Transformation(ABC):
    """Change, route or drop one record at a time.

    ``configure`` is called once, before anything else. ``apply`` is the
    meaning; ``apply_batch`` gives equal results on columns. Connect:
    ``Transformation``.
    """

    @abstractmethod
    def config(self) -> ConfigDef:
        """Return the settings of this transform."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Take the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """Return the changed record, or ``None`` to drop it; never mutate it.

        Raise DataError for a record that cannot be changed.
        """

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Return the changed batch, or ``None`` if only records can say it.

        Dropped rows are simply absent; ``origin`` keeps the tie to the input.
        An error surfaces in the record lane: return ``None``.
        """
        return None

    def close(self) -> None:
        """Free what the transform holds; called once."""


class Predicate(ABC):
    """Decide whether a transform applies to a record. Connect: ``Predicate``."""

    @abstractmethod
    def config(self) -> ConfigDef:
        """Return the settings of this predicate."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Take the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool:
        """Return whether the predicate holds."""

    def test_batch(self, batch: Batch) -> pa.Array | None:
        """Return a boolean array without nulls, or ``None`` if only records can say it."""
        return None

    def close(self) -> None:
        """Free what the predicate holds; called once."""
