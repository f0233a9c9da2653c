"""The context that is passed to all of the herder's functions, with the acting user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from connect_core.configs import ConfigProviders
from connect_core.herder.scheduler import Act, Scheduler, ask
from connect_core.herder.topic_ends import TopicEnds
from connect_core.settings import WorkerSettings
from connect_core.store import Database

__all__ = ["Herder", "OffsetRewriter"]


class OffsetRewriter(Protocol):
    """Moves a stopped connector's offsets where they are authoritative, fencing all earlier producers first."""

    def __call__(
        self,
        herder: Herder,
        connector: str,
        wanted: Mapping[str, Mapping[str, Any] | None] | None,
        *,
        is_deleted: bool = False,
    ) -> None:
        """Alter offsets by canonical JSON of their partition; a value of ``None`` forgets one, ``wanted=None`` all.

        ``is_deleted``: the connector's claim to its target is released. Raise
        IllegalWorkerStateError unless the connector is STOPPED.
        """


@dataclass(frozen=True, slots=True)
class Herder:
    """The metadata database, the scheduler, the worker's settings, and the acting user's name."""

    database: Database
    worker: WorkerSettings
    scheduler: Scheduler
    rewrite_offsets: OffsetRewriter
    providers: ConfigProviders = field(default_factory=ConfigProviders)
    actor: str = ""
    ends: TopicEnds | None = None
    """Reads the ends of topics, for lag; ``None`` where Kafka is not asked."""
    live_seconds: float = 5.0
    """How long the systems that a configuration names may take to respond when it is validated."""
    is_switching: bool = False
    """Whether a switch of a connector acts; what others do meanwhile is refused where it would disturb that."""

    @property
    def worker_id(self) -> str:
        """``host:port`` of this worker, shown until a driver has run."""
        address = self.worker.advertised
        return f"{address.host}:{address.port}"

    def ask(self, act: Act, connector: str) -> None:
        """Let the scheduler act; an act that fails now is stored as a request."""
        ask(self.scheduler, self.database, act, connector)
