"""Backfills in histories: records that have times, files that can be replaced, and what a finished run has done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from connect_core.api.backfill import Backfill, ExistingExports, Exported
from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.connectors.filesystem.sink.exported import Found, newest_over
from connect_core.interval.effects import ReadTimeBounds
from connect_core.interval.time_bounds import TimeBound, millis_of
from connect_core.interval.values import PartitionEnds
from connect_core.kafka.time_bounds import TimedLog, find_time_bounds
from connect_core.plan.run import Run
from tests.simulator.targets import Acting, FileTarget, answered, stale
from tests.simulator.timed import TimedPartition, TimedReader
from tests.simulator.truth import Violation

__all__ = ["HOURS", "ReplacedFiles", "check_finished", "hour", "time_bounds"]

HOURS = (0, 0, 1, 1, 2)
"""The hours that may be asked for, some more often than others."""
_DAY = datetime(2026, 3, 1, tzinfo=UTC)
_HOUR = 3_600_000
_NOW = millis_of(_DAY) + 1000 * _HOUR

Ends = Mapping[TopicPartition, PartitionEnds]
Positions = Mapping[TopicPartition, int]


def hour(number: int) -> datetime:
    """Return when an hour begins, of the first day."""
    return _DAY + timedelta(hours=number)


def _times(end: int) -> TimedPartition:
    """Return the times of a partition's records: two an hour, every fourth two hours late."""
    return TimedPartition(
        millis_of(_DAY) + (number // 2) * _HOUR - (2 * _HOUR if number % 4 == 3 else 0) for number in range(end)
    )


def time_bounds(effect: ReadTimeBounds, ends: Ends) -> dict[TopicPartition, TimeBound]:
    """Return where ranges end by a time, as the production code finds it."""
    logs = {part: _times(end.stable) for part, end in ends.items()}
    log = TimedLog(
        lambda parts, millis: {part: logs[part].first(millis) for part in parts},
        lambda ranges: nullcontext(TimedReader(logs, ranges)),
        lambda topics: {part.topic: end.topic_id for part, end in ends.items()},
    )
    return find_time_bounds(log, effect, _NOW, 1000)


@dataclass(slots=True)
class ReplacedFiles(FileTarget):
    """Files that a backfill can put its own in place of, by a rename that uses up what was staged."""

    fill: Callable[[TopicPartition, int, int, str], None] = field(kw_only=True)
    """Told of what a backfill's manifest names."""

    def existing(self, ranges: Sequence[PartitionRange]) -> ExistingExports:
        """Return what was exported of ranges."""
        found, gaps = newest_over(self._markers(), ranges)
        return ExistingExports(tuple(self._exported(*one) for one in found), gaps)

    def replace(self, key: IntervalKey, staged: Sequence[Staged], backfill: Backfill) -> Acting:
        """Look at the epoch, then make the manifest: between the two a driver may sleep."""
        if self.epoch > key.epoch:
            raise stale(self.epoch)
        answered((yield "K6"))
        ranges = tuple(
            PartitionRange(one.topic, one.partition, one.start, one.end, one.detail["topic_id"]) for one in staged
        )
        files = [
            {"topic": one.topic, "partition": one.partition, "start": one.start, "end": one.end, **one.detail}
            for one in staged
        ]
        positions = {one.topic_partition: one.end for one in ranges}
        detail = {"files": files, "config_version": backfill.config_version}
        return self.create(key, CommitMarker(positions, detail=detail, ranges=ranges, moves=False))

    def create(self, key: IntervalKey, marker: CommitMarker) -> CommitMarker:
        """Create the manifest unless there is one."""
        name = key.incarnation, key.sequence
        if marker.moves or name in self.manifests:
            # Not by ``super``: a class with slots is another than the one that the name means.
            return FileTarget.create(self, key, marker)
        self.manifests[name] = marker
        for one in marker.ranges or ():
            self.fill(one.topic_partition, one.start, one.end, one.topic_id)
        return marker

    def _markers(self) -> Iterator[Found]:
        yield from ((*name, self.manifests[name]) for name in sorted(self.manifests, reverse=True))

    def _exported(self, incarnation: int, sequence: int, marker: CommitMarker) -> Exported:
        detail = marker.detail or {}
        version = detail.get("config_version")
        is_complete = version is not None and all(
            self.final.get((TopicPartition(one["topic"], one["partition"]), one["start"], one["end"])) == one["path"]
            for one in detail["files"]
        )
        return Exported(incarnation, sequence, marker.ranges or (), version, is_complete)


def check_finished(home: ReplacedFiles, run: Run, positions: Positions, ends: Ends) -> None:
    """I15: after a backfill that has nothing left to do all of its time stands as this configuration makes it.

    positions, ends: those that its last plan has read.
    """
    assert run.since is not None
    assert run.bound_time is not None
    behind = [
        PartitionRange(*part, end.earliest, min(positions[part], end.stable), end.topic_id)
        for part, end in ends.items()
        if part in positions
    ]
    wanted = []
    for part in behind:
        times = _times(part.end)
        first, last = (
            next((at for at in range(part.start, part.end) if times[at] >= millis_of(moment)), part.end)
            for moment in (run.since, run.bound_time)
        )
        if first < last:
            wanted.append(PartitionRange(part.topic, part.partition, first, last, part.topic_id))
    found = home.existing(wanted)
    if found.gaps:
        raise Violation(f"I15 a backfill is over, and {found.gaps} were never exported")
    for one in found.exported:
        is_mine = one.incarnation == run.state.incarnation and one.sequence > (run.sequence_before or 0)
        if not is_mine and (one.config_version != run.state.config_version or not one.is_complete):
            raise Violation(f"I15 a backfill is over, and interval {one.sequence} was not exported again")
