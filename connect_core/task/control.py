"""The channel of a running task to its driver: stop requests in, progress out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from connect_core.api.records import TopicPartition
from connect_core.interval.values import IntervalCaps

__all__ = ["Heartbeat", "TaskControl"]


class Heartbeat(Protocol):
    """Carries progress out and stop requests in (``status.storage.topic``)."""

    def beat(self, records: int, positions: Mapping[TopicPartition, int]) -> None:
        """Report progress; cheap, called after every batch."""

    def close(self) -> None:
        """Report the end."""


@dataclass(slots=True)
class TaskControl:
    """Stop flag and caps of one attempt; times by the monotonic clock."""

    caps: IntervalCaps
    connector: str = ""
    stopping: Event = field(default_factory=Event)
    heartbeat: Heartbeat | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def is_stopping(self) -> bool:
        """Whether the task was asked to end at its next commit point."""
        return self.stopping.is_set()

    @property
    def is_past_deadline(self) -> bool:
        """Whether ``interval.max.ms`` is over."""
        limit = self.caps.milliseconds
        return limit is not None and (time.monotonic() - self.began) * 1000 >= limit

    def is_past_bytes(self, count: int) -> bool:
        """Whether ``interval.max.bytes`` is reached."""
        return self.caps.bytes is not None and count >= self.caps.bytes

    def is_past_records(self, count: int) -> bool:
        """Whether ``interval.max.records`` is reached."""
        return self.caps.records is not None and count >= self.caps.records

    def wait_for_stop(self, seconds: float) -> bool:
        """Wait at most this long → whether a stop was requested."""
        return self.stopping.wait(seconds)

    def progress(self, records: int, positions: Mapping[TopicPartition, int]) -> None:
        """Report how far the task has come."""
        if self.heartbeat is not None:
            self.heartbeat.beat(records, positions)
