"""In-memory versions of what the engine offers a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.records import SinkRecord

__all__ = ["KeptErrors", "MemoryConnectorContext"]


@dataclass(slots=True)
class MemoryConnectorContext:
    """A ConnectorContext that records the connector's calls."""

    limits: WorkerLimits = field(default_factory=WorkerLimits)
    connector_name: str = "contract"
    deployment: str = "contracts"
    offset_states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source_offsets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reconfigurations: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def redact(self, text: str) -> str:
        """Return the text: there are no secrets."""
        return text

    def request_task_reconfiguration(self) -> None:
        """Count the request."""
        self.reconfigurations += 1

    def raise_error(self, error: BaseException) -> None:
        """Keep the error."""
        self.errors.append(error)


@dataclass(slots=True)
class KeptErrors:
    """An ErrantRecordReporter that keeps the reported records."""

    reported: list[tuple[SinkRecord, BaseException]] = field(default_factory=list)

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Keep a bad record; the future is done at once."""
        self.reported.append((record, error))
        done: Future[None] = Future()
        done.set_result(None)
        return done
