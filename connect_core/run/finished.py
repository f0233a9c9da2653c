"""What a run has finished, for the events of its assets: a consumer of them needs no other source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, CommittedFile, IntervalKey, PartitionRange
from connect_core.effects.perform import Handlers
from connect_core.interval.effects import CommitInterval, Effect, PublishTarget, ReadTargetMarker
from connect_core.store.interval_history import PastInterval

__all__ = ["Finished"]

_MOST_PATHS = 1000

MarkerReader: TypeAlias = Callable[[ReadTargetMarker], CommitMarker | None]
"""The performer of ``ReadTargetMarker``."""


@dataclass(slots=True)
class Finished:
    """The intervals a run has committed, or found committed; those of its earlier tries count as well."""

    markers: dict[IntervalKey, CommitMarker] = field(default_factory=dict)
    committed: set[int] = field(default_factory=set)

    def recording(self, handlers: Handlers) -> Handlers:
        """Return handlers that also record what is committed."""
        notes: Mapping[type[Effect[Any]], Callable[[Any], None]] = {
            PublishTarget: self._published,
            CommitInterval: self._committed,
        }
        return {**handlers, **{kind: _noted(handlers[kind], note) for kind, note in notes.items() if kind in handlers}}

    def told(self, found: Sequence[PastInterval], read_marker: MarkerReader | None) -> Mapping[str, Any]:
        """Return bounds, counts and files as JSON; empty if no interval was committed.

        ``read_marker`` reads a marker from the target; ``None`` if the connector was not loaded.
        """
        if not found:
            return {}
        files = [file for row in found for file in self._files(row, read_marker)]
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
            **self._replaced(found, read_marker),
        }

    def _published(self, effect: PublishTarget) -> None:
        self.markers[replace(effect.key, epoch=0)] = effect.marker

    def _committed(self, effect: CommitInterval) -> None:
        self.committed.add(effect.key.sequence)

    def _replaced(self, found: Sequence[PastInterval], read_marker: MarkerReader | None) -> dict[str, Any]:
        """Return what backfills have replaced; empty for live intervals."""
        markers = [self._marker(past, read_marker) for past in found if past.row.is_backfill]
        replaced = [path for marker in markers if marker is not None for path in marker.replaced]
        return {"backfill": True, "replaced": replaced[:_MOST_PATHS]} if markers else {}

    def _files(self, past: PastInterval, read_marker: MarkerReader | None) -> tuple[CommittedFile, ...]:
        marker = self._marker(past, read_marker)
        return () if marker is None else marker.files

    def _marker(self, past: PastInterval, read_marker: MarkerReader | None) -> CommitMarker | None:
        key = past.row.key
        marker = self.markers.get(replace(key, epoch=0))
        if marker is None and past.row.ranges and read_marker is not None:
            marker = read_marker(ReadTargetMarker(key))
        return marker


def _noted(perform: Callable[[Any], Any], note: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Return a handler that calls ``note`` with each effect once it is done."""

    def performed(effect: Effect[Any]) -> Any:
        done = perform(effect)
        note(effect)
        return done

    return performed


def _joined(ranges: list[PartitionRange]) -> list[dict[str, Any]]:
    """Return one range per partition, as JSON."""
    found: dict[TopicPartition, tuple[int, int]] = {}
    for part in ranges:
        if part.start < part.end:
            start, end = found.get(part.topic_partition, (part.start, part.end))
            found[part.topic_partition] = min(start, part.start), max(end, part.end)
    return [{**place._asdict(), "start": start, "end": end} for place, (start, end) in sorted(found.items())]
