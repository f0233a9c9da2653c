"""Sink tasks: Connect's call order, retries, and what is staged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.errors import DataError, RetriableError
from connect_core.interval.time_bounds import RecordTimes
from tests.task.equipment import PART, GivenReader, raw, sink_attempt


class RecordingTask(SinkTask):
    """Writes down every call."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def start(self, config: Mapping[str, str]) -> None:
        self.calls.append("start")

    def open(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append("open")

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.calls.append(("put", [record.value for record in records]))

    def close(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append("close")

    def stop(self) -> None:
        self.calls.append("stop")


class FlushingTask(RecordingTask):
    """Writes only in ``flush``."""

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.calls.append(("flush", dict(offsets)))


class OwnOffsetsTask(RecordingTask):
    """Keeps its offsets with its data: rewinds in ``open``, commits less than was put."""

    def open(self, partitions: Collection[TopicPartition]) -> None:
        super().open(partitions)
        self.context.offset({PART: 1})

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        self.calls.append(("pre_commit", dict(offsets)))
        return {PART: 1}


def reader() -> GivenReader:
    return GivenReader([raw(["a", "b"]), raw(["c"], 2)], {PART: 7})


def test_flush_comes_before_positions_are_given() -> None:
    task = FlushingTask()
    run, _ = sink_attempt(task)
    run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert task.calls == [
        "start",
        "open",
        ("put", ["a", "b"]),
        ("put", ["c"]),
        ("flush", {PART: 7}),
        "close",
        "stop",
    ]
    assert run.positions == {PART: 7}


def test_pre_commit_may_return_less() -> None:
    task = OwnOffsetsTask()
    run, _ = sink_attempt(task)
    given = reader()
    run.run(lambda: given)  # type: ignore[arg-type, return-value]
    assert given.sought == {PART: 1}
    assert run.positions == {PART: 1}


def test_failing_flush_moves_nothing() -> None:
    class Broken(RecordingTask):
        def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
            raise DataError("disk full")

    task = Broken()
    run, _ = sink_attempt(task)
    with pytest.raises(DataError):
        run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert task.calls[-1] == "stop"


def test_the_same_records_are_put_again() -> None:
    class Flaky(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            if len(self.calls) < 5:
                self.context.timeout(1)
                raise RetriableError("busy")

    task = Flaky()
    run, _ = sink_attempt(task)
    run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert task.calls[2:5] == [("put", ["a", "b"])] * 3


def test_stop_ends_at_what_was_delivered() -> None:
    class Stopping(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            stop.set()

    task = Stopping()
    run, stop = sink_attempt(task)
    run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert run.positions == {PART: 2}


def test_staged_work_is_staged_once_instead_of_flushed() -> None:
    class Staging(FlushingTask):
        def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
            self.calls.append(("stage", dict(positions)))
            return [Staged("t", 0, 0, positions[PART], {"file": "x"})]

    task = Staging()
    run, _ = sink_attempt(task, is_staged=True)
    run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert ("stage", {PART: 7}) in task.calls
    assert not [call for call in task.calls if call[0] == "flush"]
    assert run.staged == (Staged("t", 0, 0, 7, {"file": "x"}),)


def test_records_outside_their_time_are_counted() -> None:
    run, _ = sink_attempt(RecordingTask())
    run.times = RecordTimes(late=50, bound=100)
    none, times = pa.nulls(1, pa.int64()), [49, 50, 99, 100, 4000]
    batches = [raw([str(time)], offset) for offset, time in enumerate([*times, "none"])]
    timed = [replace(one, timestamp=pa.array([time], pa.int64())) for one, time in zip(batches, times, strict=False)]
    given = GivenReader([*timed, replace(batches[-1], timestamp=none)], {PART: 6})
    run.run(lambda: given)  # type: ignore[arg-type, return-value]
    assert (run.counts().records, run.counts().late, run.counts().future) == (6, 1, 2)
