"""What a connector without work waits for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

__all__ = ["Check", "WaitState"]


class Check(Enum):
    """How to find out whether a waiting connector has something to do."""

    NOW = "now"
    """It has: an unfinished interval, a restart requested or due, or no plan yet."""
    ASSIGN = "assign"
    """By assigning its tasks, which is all it needs: no interval is unfinished; its data is checked after that."""
    NEVER = "never"
    """It must not run: failed, paused or stopped."""
    SINK = "sink"
    """By the last stable offsets of its partitions."""
    LATEST = "latest"
    """By ``SourceConnector.latest``."""
    POLL = "poll"
    """By trying, every ``poll_seconds``."""


@dataclass(frozen=True, slots=True)
class WaitState:
    """What the metadata database contains about a waiting connector.

    ``since_run``: seconds since its lease was last released or lost; negative while a holder has it.
    ``committed_at``: when an interval was last committed.
    """

    check: Check
    poll_seconds: float = 10.0
    since_run: float | None = None
    committed_at: datetime | None = None

    @property
    def is_running(self) -> bool:
        """Whether a run holds the connector."""
        return self.since_run is not None and self.since_run < 0
