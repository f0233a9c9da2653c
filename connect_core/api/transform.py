"""Single message transforms and the predicates that guard them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef
from connect_core.api.records import ConnectRecord, Record

__all__ = ["NOT_CHOSEN", "ChosenPlugin", "FlowStage", "Predicate", "Transformation"]


@dataclass(frozen=True, slots=True)
class ChosenPlugin:
    """A plugin as configured: its class name as users write it, and its settings."""

    name: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


NOT_CHOSEN = ChosenPlugin()
"""Stands for a plugin that no configuration chose."""


class FlowStage(Protocol):
    """One transform, guarded by a predicate or not. Connect: ``TransformationStage``."""

    @property
    def transformation(self) -> Transformation:
        """The transform."""

    @property
    def predicate(self) -> Predicate | None:
        """The predicate that must hold, or ``None``."""

    @property
    def negate(self) -> bool:
        """Whether the predicate must *not* hold."""

    @property
    def chosen(self) -> ChosenPlugin:
        """The transform as it was configured."""

    @property
    def chosen_predicate(self) -> ChosenPlugin | None:
        """The predicate as it was configured."""


class Transformation(ABC):
    """Changes, routes or drops one record at a time.

    ``configure`` is called once, before anything else. ``apply`` defines the
    result; ``apply_batch`` returns equal results for columns. Connect:
    ``Transformation``.
    """

    @abstractmethod
    def config(self) -> ConfigDef:
        """Return the settings of this transform."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """Return the changed record, or ``None`` to drop it; never mutate it.

        Raise DataError for a record that cannot be changed.
        """

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Return the changed batch, or ``None`` if only ``apply`` can.

        Dropped rows are simply absent; ``origin`` still refers to the input row.
        Errors are reported in the record lane: return ``None``.
        """
        return None

    def gather(self, stages: Sequence[FlowStage]) -> tuple[FlowStage, int]:
        """Return a stage that performs the first stages at once, and their number; the first one is this transform's.

        Beyond Connect: batches are passed only once for several transforms.
        """
        return stages[0], 1

    def close(self) -> None:
        """Release the transform's resources; called once."""


class Predicate(ABC):
    """Decides whether a transform applies to a record. Connect: ``Predicate``."""

    @abstractmethod
    def config(self) -> ConfigDef:
        """Return the settings of this predicate."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool:
        """Return whether the predicate holds."""

    def test_batch(self, batch: Batch) -> pa.Array | None:
        """Return a boolean array without nulls, or ``None`` if only ``test`` can."""
        return None

    def close(self) -> None:
        """Release the predicate's resources; called once."""
