"""Sink tasks: Connect's call order, retries, and what is staged."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.config import ConfigDef
from connect_core.api.records import Record, SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.api.transform import Transformation
from connect_core.errors import DataError, RetriableError
from connect_core.interval.time_bounds import RecordTimes
from connect_core.kafka.raw_batch import RawBatch
from connect_core.task.timeouts import Timeouts
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


A, B = TopicPartition("a", 0), TopicPartition("b", 0)


class DropTopic(Transformation):
    """Drops the records of one topic; it is its own stage."""

    predicate = None
    negate = False

    def __init__(self, topic: str) -> None:
        self.transformation = self
        self.topic = topic

    def config(self) -> ConfigDef:
        return ConfigDef()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing."""

    def apply(self, record: Record) -> Record | None:
        return None if record.topic == self.topic else record


@dataclass
class LogReader:
    """Reads two topics as BoundedReader does: one poll returns all there is, and the positions are past it."""

    log: Mapping[TopicPartition, list[str]] = field(default_factory=lambda: {A: ["a0", "a1"], B: ["b0", "b1"]})
    most: int = 9
    positions: dict[TopicPartition, int] = field(default_factory=lambda: {A: 0, B: 0})
    paused: set[TopicPartition] = field(default_factory=set)
    late: int = 0

    @property
    def is_finished(self) -> bool:
        return all(self.positions[part] >= len(values) for part, values in self.log.items())

    def poll(self) -> list[RawBatch]:
        batches: list[RawBatch] = []
        self.late -= 1
        if self.late >= 0:
            return batches
        for part, values in self.log.items():
            first = self.positions[part]
            if part not in self.paused and (some := values[first : first + self.most]):
                batches.append(replace(raw(some, first), topic=part.topic))
                self.positions[part] += len(some)
        return batches

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition] = offset

    def pause(self, partitions: Any) -> None:
        self.paused.update(partitions)

    def resume(self, partitions: Any) -> None:
        self.paused.difference_update(partitions)

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


def puts(task: RecordingTask) -> list[list[str]]:
    return [call[1] for call in task.calls if call[0] == "put"]


def test_rewind_in_put_loses_no_records_of_the_same_poll() -> None:
    class Rewinding(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            if len(puts(self)) == 1:
                self.context.offset({A: 0})

    task = Rewinding()
    run, _ = sink_attempt(task)
    run.run(lambda: LogReader())  # type: ignore[arg-type, return-value]
    assert puts(task) == [["a0", "a1"], ["b0", "b1"], ["a0", "a1"]]
    assert run.positions == {A: 2, B: 2}


def test_rewound_records_that_are_not_delivered_again_are_not_committed() -> None:
    class Rewinding(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            self.context.offset({A: 1})
            stop.set()

    task = Rewinding()
    run, stop = sink_attempt(task)
    run.run(lambda: LogReader())  # type: ignore[arg-type, return-value]
    assert puts(task) == [["a0", "a1"], ["b0", "b1"]]
    assert run.positions == {A: 1, B: 2}


def test_rewind_in_pre_commit_comes_before_the_next_poll() -> None:
    class Rewinding(RecordingTask):
        def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
            if len(puts(self)) == 2:
                self.context.offset({A: 0})
            return offsets

    task = Rewinding()
    run, _ = sink_attempt(task, timeouts=Timeouts(flush_seconds=0.0))
    run.run(lambda: LogReader(most=1))  # type: ignore[arg-type, return-value]
    assert puts(task) == [["a0"], ["b0"], ["a0"], ["b1"], ["a1"]]
    assert run.positions == {A: 2, B: 2}


class AnsweringTask(RecordingTask):
    """Answers pre_commit with what it was given, one answer after the other."""

    def __init__(self, *answers: Mapping[TopicPartition, int]) -> None:
        super().__init__()
        self.answers = list(answers)

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return self.answers.pop(0)


def test_what_pre_commit_declared_safe_stays_so_when_its_next_answer_is_empty() -> None:
    run, _ = sink_attempt(AnsweringTask({A: 1}, {B: 2}, {}), timeouts=Timeouts(flush_seconds=0.0))
    run.run(lambda: LogReader({A: list("12345"), B: list("12345")}, most=2))  # type: ignore[arg-type, return-value]
    assert run.positions == {A: 1, B: 2}


def test_positions_that_pre_commit_cannot_know_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    run, _ = sink_attempt(AnsweringTask({A: 3, B: 2, TopicPartition("other", 3): 7}))
    run.run(lambda: LogReader())  # type: ignore[arg-type, return-value]
    assert run.positions == {B: 2}
    assert "3 for a-0, which is ignored: the task has got the records before 2 only" in caplog.text
    assert "7 for other-3, which is ignored: the task's partitions are a-0, b-0" in caplog.text


def test_safe_position_falls_back_with_a_rewind() -> None:
    class Rewinding(AnsweringTask):
        def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
            if len(self.answers) == 1:
                self.context.offset({A: 1})
            return super().pre_commit(offsets)

    run, _ = sink_attempt(Rewinding({A: 2, B: 2}, {}), timeouts=Timeouts(flush_seconds=0.0))
    run.run(lambda: LogReader({A: list("123"), B: list("123")}, most=2))  # type: ignore[arg-type, return-value]
    assert run.positions == {A: 1, B: 2}


def stop_soon(stop: threading.Event) -> None:
    """Stop a task that would wait for ever for its partitions to be resumed."""
    timer = threading.Timer(5, stop.set)
    timer.daemon = True
    timer.start()


class PausingTask(RecordingTask):
    """Pauses after each put of records, and resumes in the next put."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        super().put(records)
        if records:
            self.context.pause(A, B)
        else:
            self.context.resume(A, B)


@pytest.mark.parametrize("is_staged", [False, True])
def test_task_that_pauses_may_resume_in_a_put_without_records(is_staged: bool) -> None:
    task = PausingTask()
    run, stop = sink_attempt(task, is_staged=is_staged)
    stop_soon(stop)
    run.run(lambda: LogReader({A: ["1", "2"], B: []}, most=1))  # type: ignore[arg-type, return-value]
    assert puts(task) == [["1"], [], ["2"]]


def test_paused_task_may_resume_while_all_other_records_are_dropped() -> None:
    class PausingA(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            self.context.pause(A) if records else self.context.resume(A)

    task = PausingA()
    run, stop = sink_attempt(task, stages=[DropTopic("b")])
    stop_soon(stop)
    log = {A: ["1", "2"], B: list("12345")}
    run.run(lambda: LogReader(log, most=1))  # type: ignore[arg-type, return-value]
    assert puts(task) == [["1"], [], ["2"], []]


def test_pause_in_open_holds_from_the_first_poll_on() -> None:
    class PausingInOpen(PausingTask):
        def open(self, partitions: Collection[TopicPartition]) -> None:
            self.context.pause(A)

    task = PausingInOpen()
    run, stop = sink_attempt(task)
    stop_soon(stop)
    run.run(lambda: LogReader({A: ["a"], B: ["b"]}))  # type: ignore[arg-type, return-value]
    assert puts(task) == [["b"], [], ["a"]]


@pytest.mark.parametrize(("is_staged", "expected"), [(False, [[], [], ["1"]]), (True, [["1"]])])
def test_task_without_a_committer_may_work_while_no_records_come(is_staged: bool, expected: list[list[str]]) -> None:
    task = RecordingTask()
    run, _ = sink_attempt(task, is_staged=is_staged)
    run.run(lambda: LogReader({A: ["1"], B: []}, late=2))  # type: ignore[arg-type, return-value]
    assert puts(task) == expected
