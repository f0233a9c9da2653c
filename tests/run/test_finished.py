"""What a run tells of the intervals it has finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, CommittedFile, IntervalKey, PartitionRange
from connect_core.interval import effects as fx
from connect_core.interval.values import Counts, IntervalRow, IntervalState
from connect_core.run.finished import Finished
from connect_core.store.interval_history import PastInterval

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def past(sequence: int, *ranges: tuple[int, int, int], bound: datetime | None = NOON, **counts: int) -> PastInterval:
    parts = tuple(PartitionRange("t", partition, start, end) for partition, start, end in ranges)
    row = IntervalRow(IntervalKey("a", 1, sequence, 7), IntervalState.COMMITTED, 1, "", parts, bound_time=bound)
    return PastInterval(row, Counts(**counts), None, "run", "tag", "worker", None, NOON, NOON, NOON)


def marker(*names: str) -> CommitMarker:
    return CommitMarker({TopicPartition("t", 0): 9}, files=tuple(CommittedFile(name, 2, 50) for name in names))


def handlers(**markers: CommitMarker) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
    """Return performers; ``markers`` are the target's, by sequence."""
    return {
        fx.PublishTarget: lambda effect: None,
        fx.CommitInterval: lambda effect: None,
        fx.ReadTargetMarker: lambda effect: markers.get(f"s{effect.key.sequence}"),
    }


def test_bounds_counts_and_files_of_all_intervals_are_told_together() -> None:
    finished, table = Finished(), handlers(s4=marker("from/target"))
    recording: Mapping[type[fx.Effect[Any]], Callable[[Any], Any]] = finished.recording(table)
    key = IntervalKey("a", 1, 5, 9)
    recording[fx.PublishTarget](fx.PublishTarget(key, marker("x", "y")))
    recording[fx.CommitInterval](fx.CommitInterval(replace(key, epoch=7), 9, ()))
    assert finished.committed == {5}
    found = [
        past(4, (0, 0, 5), (1, 3, 3), records=5, bytes=500, late=1),
        past(5, (0, 5, 8), (1, 3, 4), records=4, bytes=400, future=2),
    ]
    assert finished.told(found, recording[fx.ReadTargetMarker]) == {
        "bound_time": "2026-03-01T12:00:00+00:00",
        "sequences": [4, 5],
        "records": 9,
        "bytes": 900,
        "late": 1,
        "future": 2,
        "ranges": [
            {"topic": "t", "partition": 0, "start": 0, "end": 8},
            {"topic": "t", "partition": 1, "start": 3, "end": 4},
        ],
        "files": 3,
        "file_bytes": 150,
        "paths": ["from/target", "x", "y"],
    }


def test_sinks_without_files_and_sources_tell_of_none() -> None:
    read_marker = handlers()[fx.ReadTargetMarker]
    assert Finished().told([], read_marker) == {}
    told = Finished().told([past(1, (0, 0, 5), bound=None, records=5)], read_marker)
    assert (told["bound_time"], told["files"], told["paths"]) == (None, 0, [])
    assert Finished().told([past(1, (0, 0, 5), bound=None, records=5)], None)["records"] == 5


def test_what_fails_is_not_finished() -> None:
    def fail(effect: fx.Effect[Any]) -> None:
        raise OSError("disk")

    finished = Finished()
    recording = finished.recording({fx.CommitInterval: fail})
    with pytest.raises(OSError, match="disk"):
        recording[fx.CommitInterval](fx.CommitInterval(IntervalKey("a", 1, 3, 1), 1, ()))
    assert finished.committed == set()
