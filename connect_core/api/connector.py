"""The base of every connector: it divides a configuration's work into tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.guarantee import Delivery, Guarantee

__all__ = ["Connector", "ConnectorContext", "Task", "WorkerLimits"]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The files and other resources a worker allows its connectors to use.

    ``file_roots``: the folders file connectors may read and write; empty means
    that file connectors are off. ``file_excluded``: folders and files under
    them that no connector may touch. ``values``: further limits by setting name.
    """

    file_roots: tuple[Path, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    standalone: bool = False
    file_excluded: tuple[Path, ...] = ()


class ConnectorContext(Protocol):
    """The engine's interface for a connector; safe to call from any thread."""

    @property
    def connector_name(self) -> str:
        """The connector's name."""

    @property
    def deployment(self) -> str:
        """The name that separates this deployment's connectors from all others (``group.id``)."""

    @property
    def limits(self) -> WorkerLimits:
        """What this worker allows."""

    @property
    def offset_states(self) -> Mapping[str, Mapping[str, str]]:
        """Private state committed with source offsets, by canonical JSON of the partition; set before ``latest``."""

    @property
    def source_offsets(self) -> Mapping[str, Mapping[str, Any]]:
        """All committed source offsets, by canonical JSON of the partition. Connect: ``SourceConnectorContext``."""

    def redact(self, text: str) -> str:
        """Return a text without the connector's secrets, suitable for a log."""

    def request_task_reconfiguration(self) -> None:
        """Request another call of ``task_configs``: the run ends at its next commit and plans again."""

    def raise_error(self, error: BaseException) -> None:
        """Make the connector FAILED with this error (Connect: ``raiseError``)."""


class Task(ABC):
    """One share of a connector's work; runs on a Spark worker."""

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Start with one of the maps ``task_configs`` returned; called once."""

    @abstractmethod
    def stop(self) -> None:
        """Stop soon; may be called from another thread than ``poll`` or ``put``."""

    def version(self) -> str:
        """Return the plugin's version; if empty, the distribution's version counts."""
        return ""


class Connector(ABC):
    """Divides the work of one configuration into tasks.

    Call order: ``initialize``, ``start``, any number of ``task_configs``, ``stop``.
    Runs on the driver at plan time, never on executors. Connect: ``Connector``.
    """

    context: ConnectorContext

    def initialize(self, context: ConnectorContext) -> None:
        """Store the context; called once, before ``start``."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Start with the connector's configuration. Raise ConfigError if it cannot work."""

    @abstractmethod
    def task_class(self) -> type[Task]:
        """Return the class of this connector's tasks."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return at most ``max_tasks`` configurations; none means nothing to do."""

    @abstractmethod
    def stop(self) -> None:
        """Stop: release what ``start`` acquired."""

    @abstractmethod
    def config(self) -> ConfigDef:
        """Return the settings of this connector."""

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors and recommended values."""
        return self.config().validate(config)

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return the guarantee of this configuration; needs no ``start``. Beyond Connect."""
        return Guarantee(Delivery.UNKNOWN)

    def is_bound_to_process(self, config: Mapping[str, str]) -> bool:
        """Return whether tasks must run in the worker's own process (standard input).

        Possible in standalone only. Beyond Connect.
        """
        return False

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check the systems named by a valid configuration; key → errors with remedy.

        Beyond Connect; must return within 5 s. ``limits`` are the worker's.
        """
        return {}

    def version(self) -> str:
        """Return the plugin's version; if empty, the distribution's version counts."""
        return ""
