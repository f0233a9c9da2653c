"""Compares a sink's markers, its target, the metadata database and Kafka with each other; only reads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from connect_core.api.recount import Difference, RecountedInterval, RecountingCommitter
from connect_core.api.sink import IntervalKey, SinkConnector
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import BadRequestError, ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.interval_checks import IntervalChecks
from connect_core.herder.past_intervals import PastIntervals, Snapshot, snapshot_of
from connect_core.herder.tiling import Tiling
from connect_core.herder.topic_counts import PartitionCount, beyond, count_partitions
from connect_core.interval.values import ConnectorType

__all__ = ["Verification", "VerificationRequest", "verify"]

_MOST = 1000
_SOURCE = "a source's target is Kafka, whose transactions commit records together with their offsets"


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """Intervals ``first`` to ``last``, both included, or to the newest; ends after ``seconds``, complete or not."""

    first: int = 1
    last: int | None = None
    seconds: float = 60.0


@dataclass(slots=True)
class Verification:
    """The result of a recount. ``reason``: why the target cannot be recounted, else null.

    ``rows`` by the markers, ``found`` as counted where that is possible; ``records`` read from Kafka for them, as far
    as the history contains them. At most 1000 differences are listed; ``difference_count`` includes all of them.
    ``is_complete`` is false if the time ran out first. ``first`` and ``last`` are the first and last interval checked.
    """

    connector: str
    reason: str | None = None
    is_complete: bool = True
    first: int | None = None
    last: int | None = None
    intervals: int = 0
    parts: int = 0
    rows: int = 0
    found: int = 0
    uncounted: int = 0
    """Rows by the markers that could not be counted; the notes explain why."""
    records: int = 0
    partitions: list[PartitionCount] = field(default_factory=list)
    difference_count: int = 0
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_recountable(self) -> bool:
        """Whether the target can be recounted."""
        return self.reason is None

    def differ(self, one: Difference) -> None:
        """Count a difference, and keep it unless there are too many."""
        self.difference_count += 1
        if len(self.differences) < _MOST:
            self.differences.append(one)


def verify(herder: Herder, name: str, wanted: VerificationRequest = VerificationRequest()) -> Verification:
    """Recount a connector's intervals.

    Raise NotFoundError, BadRequestError for bounds that make no sense, ConnectError where the target does not answer.
    """
    if wanted.last is not None and wanted.last < wanted.first:
        raise BadRequestError(f"Interval {wanted.last} is before {wanted.first}: give the earlier interval first")
    began = time.monotonic()
    said = snapshot_of(herder, name)
    if wanted.first > max(1, said.last.sequence):
        # Nothing would be counted, and no difference be found.
        raise BadRequestError(
            f"Interval {wanted.first} of {name} does not exist yet, the newest is {said.last.sequence}: "
            "give an earlier one as the first"
        )
    if said.state.type is ConnectorType.SOURCE:
        return Verification(name, _not_recountable(name, _SOURCE))
    worker = ConnectorWorker(herder.worker, herder.database, name)
    try:
        done = _Recounting(herder, worker, said, wanted, began + wanted.seconds).done()
    except ConnectError as error:
        worker.clean(error)
        raise
    done.seconds = round(time.monotonic() - began, 3)
    return done


def _not_recountable(name: str, why: str) -> str:
    return f"This connector's target cannot be recounted: {why}"


@dataclass(slots=True)
class _Recounting:
    herder: Herder
    worker: ConnectorWorker
    said: Snapshot
    wanted: VerificationRequest
    until: float

    def done(self) -> Verification:
        """Return the result."""
        name = self.said.state.name
        connector = self.worker.reader(self.said.state)
        try:
            assert isinstance(connector.connector, SinkConnector)
            committer = connector.committer()
            if not isinstance(committer, RecountingCommitter):
                kind = type(connector.connector).__name__
                return Verification(name, _not_recountable(name, f"{kind} cannot list what it has written"))
            checks = IntervalChecks(self.herder.database, self.said.state, connector)
            return self._recounted(committer, checks)
        finally:
            connector.close()

    def _recounted(self, committer: RecountingCommitter, checks: IntervalChecks) -> Verification:
        done, newest = Verification(self.said.state.name), self.said.last
        sequence = newest.sequence if self.wanted.last is None else min(self.wanted.last, newest.sequence)
        last = IntervalKey(newest.connector, newest.incarnation, sequence, newest.epoch)
        past = PastIntervals(self.herder.database, self.wanted.first, last)
        tiling = Tiling(self.said.moves, past.reaches)
        self._walk(done, committer, checks, past, tiling)
        if done.is_complete and self._is_whole(sequence):
            self._positions(done, tiling)
            for foreign_object in committer.foreign_objects():
                done.differ(foreign_object)
                done.is_complete = done.is_complete and not self._is_over
                if self._is_over:
                    break
        done.partitions, told = count_partitions(self.herder, tiling.chains)
        _differ(done, beyond(done.partitions))
        done.notes = sorted({*done.notes, *tiling.notes, *checks.notes, *told})
        return done

    def _walk(
        self,
        done: Verification,
        committer: RecountingCommitter,
        checks: IntervalChecks,
        past: PastIntervals,
        tiling: Tiling,
    ) -> None:
        notes: set[str] = set()
        for one in committer.recount(self.wanted.first, past.last):
            for missing in past.newer(one.key):
                _differ(done, checks.missing(missing))
            row = past.take(one.key)
            done.records += 0 if row is None else row.counts.records
            _count(done, one)
            notes |= set(one.notes)
            _differ(done, iter(one.differences))
            _differ(done, checks.compared(one, row, is_known=past.reaches(one.key)))
            if one.moves and not (one.is_aborted or one.is_foreign):
                _differ(done, tiling.add(one))
            if self._is_over:
                done.is_complete = False
                break
        else:
            for missing in past.newer(None):
                _differ(done, checks.missing(missing))
        done.notes = sorted(notes)

    def _positions(self, done: Verification, tiling: Tiling) -> None:
        for part, end in sorted(tiling.newest().items()):
            position = self.said.positions.get(part)
            if position not in (None, end) and not self.said.moves.explain(part, position or 0):
                said, found = f"the database is at {position}", f"the newest marker ends at {end}"
                done.differ(Difference("position", str(part), said, found))

    def _is_whole(self, last: int) -> bool:
        return self.wanted.first <= 1 and last == self.said.last.sequence

    @property
    def _is_over(self) -> bool:
        return time.monotonic() > self.until


def _differ(done: Verification, found: Iterator[Difference]) -> None:
    for one in found:
        done.differ(one)


def _count(done: Verification, one: RecountedInterval) -> None:
    done.intervals += 1
    done.first, done.last = one.key.sequence, done.last or one.key.sequence
    done.parts += one.parts
    done.rows += one.rows
    if one.found is None:
        done.uncounted += one.rows
    else:
        done.found += one.found
