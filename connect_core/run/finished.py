"""What a run has finished, as the events of its assets tell it: a reader of them needs to ask nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, CommittedFile, IntervalKey, PartitionRange
from connect_core.effects.perform import Handlers
from connect_core.interval.effects import CommitInterval, Effect, PublishTarget, ReadTargetMarker
from connect_core.store.interval_history import PastInterval

__all__ = ["Finished"]

_MOST_PATHS = 1000


@dataclass(frozen=True, slots=True)
class _Heard(Mapping[type[Effect[Any]], Callable[[Any], Any]]):
    """Performers, some of them with somebody who is told what was done."""

    handlers: Handlers
    notes: Mapping[type[Effect[Any]], Callable[[Any], None]]

    def __getitem__(self, kind: type[Effect[Any]]) -> Callable[[Any], Any]:
        perform, note = self.handlers[kind], self.notes.get(kind)
        if note is None:
            return perform

        def noted(effect: Effect[Any]) -> Any:
            done = perform(effect)
            note(effect)
            return done

        return noted

    def __iter__(self) -> Iterator[type[Effect[Any]]]:
        return iter(self.handlers)

    def __len__(self) -> int:
        return len(self.handlers)


@dataclass(slots=True)
class Finished:
    """The intervals a run has committed, or found committed; those an earlier try of it has committed count, too."""

    markers: dict[IntervalKey, CommitMarker] = field(default_factory=dict)
    committed: set[int] = field(default_factory=set)

    def heard(self, handlers: Handlers) -> Handlers:
        """Return performers that also take note of what is committed; the table may still grow."""
        return _Heard(handlers, {PublishTarget: self._published, CommitInterval: self._committed})

    def told(self, found: Sequence[PastInterval], handlers: Handlers) -> Mapping[str, Any]:
        """Return bounds, counts and files as JSON; nothing where no interval was committed."""
        if not found:
            return {}
        files = [file for row in found for file in self._files(row, handlers)]
        bounds = [row.row.bound_time for row in found if row.row.bound_time is not None]
        return {
            "bound_time": max(bounds).isoformat() if bounds else None,
            "sequences": [row.row.key.sequence for row in found],
            "records": sum(row.counts.records for row in found),
            "bytes": sum(row.counts.bytes for row in found),
            "late": sum(row.counts.late for row in found),
            "future": sum(row.counts.future for row in found),
            "ranges": _joined([part for row in found for part in row.row.ranges]),
            "files": len(files),
            "file_bytes": sum(file.bytes for file in files),
            "paths": [file.path for file in files[:_MOST_PATHS]],
            **self._replaced(found, handlers),
        }

    def _published(self, effect: PublishTarget) -> None:
        self.markers[replace(effect.key, epoch=0)] = effect.marker

    def _committed(self, effect: CommitInterval) -> None:
        self.committed.add(effect.key.sequence)

    def _replaced(self, found: Sequence[PastInterval], handlers: Handlers) -> dict[str, Any]:
        """Return what backfills have replaced; nothing of live intervals."""
        markers = [self._marker(past, handlers) for past in found if past.row.is_backfill]
        replaced = [path for marker in markers if marker is not None for path in marker.replaced]
        return {"backfill": True, "replaced": replaced[:_MOST_PATHS]} if markers else {}

    def _files(self, past: PastInterval, handlers: Handlers) -> tuple[CommittedFile, ...]:
        marker = self._marker(past, handlers)
        return () if marker is None else marker.files

    def _marker(self, past: PastInterval, handlers: Handlers) -> CommitMarker | None:
        key = past.row.key
        marker = self.markers.get(replace(key, epoch=0))
        if marker is None and past.row.ranges and ReadTargetMarker in handlers:
            marker = handlers[ReadTargetMarker](ReadTargetMarker(key))
        return marker


def _joined(ranges: list[PartitionRange]) -> list[dict[str, Any]]:
    """Return one range a partition, as JSON."""
    found: dict[TopicPartition, tuple[int, int]] = {}
    for part in ranges:
        if part.start < part.end:
            start, end = found.get(part.topic_partition, (part.start, part.end))
            found[part.topic_partition] = min(start, part.start), max(end, part.end)
    return [{**place._asdict(), "start": start, "end": end} for place, (start, end) in sorted(found.items())]
