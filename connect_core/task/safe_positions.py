"""The positions that a sink task has declared safe, over all calls of its ``pre_commit``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from connect_core.api.records import TopicPartition

__all__ = ["SafePositions"]

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class SafePositions:
    """Keeps the last valid position of each partition: a task may name only those that changed since the last call.

    Connect: ``lastCommittedOffsets`` of ``WorkerSinkTask``. A partition that no call has named has no position.
    """

    positions: dict[TopicPartition, int] = field(default_factory=dict)

    def take(self, claimed: Mapping[TopicPartition, int], delivered: Mapping[TopicPartition, int]) -> None:
        """Take the answer of one call. What the task cannot have written is ignored, with a warning.

        ``delivered``: the position of each of the task's partitions.
        """
        for partition, position in claimed.items():
            end = delivered.get(partition)
            if end is None:
                _ignore(partition, position, f"the task's partitions are {', '.join(map(str, sorted(delivered)))}")
            elif position > end:
                _ignore(partition, position, f"the task has got the records before {end} only")
            else:
                self.positions[partition] = position

    def rewind(self, partition: TopicPartition, position: int) -> None:
        """Note where a task continues from: what it will get again is not safe any more."""
        if partition in self.positions:
            self.positions[partition] = min(self.positions[partition], position)


def _ignore(partition: TopicPartition, position: int, reason: str) -> None:
    _LOG.warning("pre_commit returned %d for %s, which is ignored: %s", position, partition, reason)
