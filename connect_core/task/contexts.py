"""Connect's task contexts, bound to one interval, as the engine passes them to tasks."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord, TopicPartition
from connect_core.api.sink import ErrantRecordReporter, IntervalContext
from connect_core.errors import IllegalStateError
from connect_core.interval.values import OffsetStates, SourceOffsets

__all__ = ["Boundaries", "Boundary", "PlannedOffsets", "SinkContext", "SourceContext", "Transactions"]


@dataclass(slots=True)
class PlannedOffsets:
    """The committed source offsets as planned; remembers which partitions were asked for."""

    start: SourceOffsets
    asked: set[str] = field(default_factory=set)

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the committed offset of a source partition, or ``None``."""
        key = canonical(partition)
        self.asked.add(key)
        found = self.start.get(key)
        return None if found is None else dict(found)

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], dict[str, Any] | None]]:
        """Return the committed offset of each partition, in the given order."""
        return [(partition, self.offset(partition)) for partition in partitions]


class Boundary(Enum):
    """What a task requested at a position in its records."""

    COMMIT = "commit"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The boundaries of one batch: after some of its rows, and after its last one.

    ``last`` is what was requested for the batch as a whole.
    """

    rows: tuple[tuple[int, Boundary], ...] = ()
    last: Boundary | None = None


@dataclass(slots=True)
class Transactions:
    """Boundaries a source task sets itself (``transaction.boundary=connector``).

    Connect: ``WorkerTransactionContext``.
    """

    _batch: set[Boundary] = field(default_factory=set)
    _records: list[tuple[SourceRecord, Boundary]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after this record; without one, after the next batch."""
        self._ask(record, Boundary.COMMIT)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort after this record, which is dropped as well; without one, after the next batch."""
        self._ask(record, Boundary.ABORT)

    def take(self, records: Sequence[SourceRecord]) -> Boundaries:
        """Return what was requested for the batch just polled; requests for other records are kept.

        Raise IllegalStateError if both a commit and an abort were requested.
        """
        with self._lock:
            rows = {id(record): row for row, record in enumerate(records)}
            found: dict[int, set[Boundary]] = {}
            for record, boundary in self._records:
                if id(record) in rows:
                    found.setdefault(rows[id(record)], set()).add(boundary)
            self._records = [one for one in self._records if id(one[0]) not in rows]
            last, self._batch = self._batch, set()
        for asked in (last, *found.values()):
            if len(asked) > 1:
                raise IllegalStateError("Connector requested both commit and abort of the same transaction")
        return Boundaries(tuple((row, found[row].pop()) for row in sorted(found)), last.pop() if last else None)

    def _ask(self, record: SourceRecord | None, boundary: Boundary) -> None:
        with self._lock:
            if record is None:
                self._batch.add(boundary)
            else:
                self._records.append((record, boundary))


@dataclass(slots=True)
class SourceContext:
    """A source task's context."""

    configs: Mapping[str, str]
    limits: WorkerLimits
    offset_storage_reader: PlannedOffsets
    transaction_context: Transactions | None
    offset_states: OffsetStates
    upper_bounds: SourceOffsets | None

    @property
    def source_offsets(self) -> SourceOffsets:
        """All committed offsets, as planned."""
        return self.offset_storage_reader.start


@dataclass(slots=True)
class SinkContext:
    """A sink task's context; it keeps the task's requests for the engine to act on."""

    configs: Mapping[str, str]
    limits: WorkerLimits
    assignment: Collection[TopicPartition]
    interval: IntervalContext
    errant_record_reporter: ErrantRecordReporter | None
    rewinds: dict[TopicPartition, int] = field(default_factory=dict)
    paused: set[TopicPartition] = field(default_factory=set)
    timeout_milliseconds: int | None = None
    is_commit_requested: bool = False

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Rewind to offsets that the target itself stores."""
        self.rewinds.update(offsets)

    def timeout(self, milliseconds: int) -> None:
        """Wait this long before the next ``put``."""
        self.timeout_milliseconds = milliseconds

    def request_commit(self) -> None:
        """Ask for ``pre_commit`` soon."""
        self.is_commit_requested = True

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these partitions until resumed."""
        self.paused.update(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver these partitions again."""
        self.paused.difference_update(partitions)
