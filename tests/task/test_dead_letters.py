"""Dead letters: the bytes as they were read, before any offset moves; of sources in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import pytest

from connect_core.api.config import ConfigDef
from connect_core.api.records import Record, SinkRecord, TopicPartition
from connect_core.api.transform import Predicate, Transformation
from connect_core.converters.json import JsonConverter
from connect_core.errors import ConnectError, DataError
from connect_core.kafka.dead_letters import DeadLetter, ErrorContext
from connect_core.task.dead_letters import LettersOf
from tests.task.equipment import (
    PART,
    GivenReader,
    RememberedQueue,
    RememberedWriter,
    raw,
    sink_attempt,
    source_attempt,
    tolerance,
)
from tests.task.test_sink import FlushingTask, RecordingTask
from tests.task.test_source import AcknowledgingTask, GuideTask


class RefuseTwo(Transformation):
    """Refuses every record whose text holds a 2."""

    def __init__(self, message: str = "no two") -> None:
        self.message = message

    def config(self) -> ConfigDef:
        return ConfigDef()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing."""

    def apply(self, record: Record) -> Record | None:
        if "2" in record.value:
            raise DataError(self.message)
        return record


@dataclass(frozen=True)
class Always:
    """A stage without a predicate."""

    transformation: Transformation
    predicate: Predicate | None = None
    negate: bool = False


def json() -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, False)
    return converter


def reader() -> GivenReader:
    return GivenReader([raw(['{"a":1}', "no JSON", '{"a":3}']), raw(['{"a":2}'], 3)], {PART: 4})


def run_sink(task: RecordingTask, queue: RememberedQueue, **more: Any) -> Any:
    run, _ = sink_attempt(task, guard=tolerance(True), queue=queue, value=json(), **more)
    run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    return run


def test_unreadable_record_is_a_letter_and_the_rest_is_put() -> None:
    queue, task = RememberedQueue(), FlushingTask()
    run = run_sink(task, queue)
    assert [call for call in task.calls if call[0] == "put"] == [("put", [{"a": 1}, {"a": 3}]), ("put", [{"a": 2}])]
    ((letter, context),) = queue.letters
    assert (letter.topic, letter.partition, letter.offset, letter.value) == ("t", 0, 1, b"no JSON")
    assert (context.stage, context.executing_class) == (
        "VALUE_CONVERTER",
        "org.apache.kafka.connect.json.JsonConverter",
    )
    assert context.exception_class == "connect_core.errors.DataError"
    assert "Traceback" in (context.trace or "")
    assert queue.calls == ["report", "flush", "flush", "close"]
    assert (run.positions, run.counts().skipped, run.skipped()[0].records) == ({PART: 4}, 1, 1)


def test_record_a_transform_refuses_goes_out_as_it_was_read() -> None:
    queue = RememberedQueue()
    run, _ = sink_attempt(FlushingTask(), guard=tolerance(True), queue=queue, stages=[Always(RefuseTwo())])
    run.run(lambda: GivenReader([raw(["1", "2"])], {PART: 2}))  # type: ignore[arg-type, return-value]
    ((letter, context),) = queue.letters
    assert (letter.offset, letter.value, context.stage) == (1, b"2", "TRANSFORMATION")


def test_letters_are_in_kafka_before_offsets_move() -> None:
    class Broken(RememberedQueue):
        def flush(self) -> None:
            super().flush()
            raise DataError("record too large for dead")

    queue, task = Broken(), FlushingTask()
    run, _ = sink_attempt(task, guard=tolerance(True), queue=queue, value=json())
    with pytest.raises(DataError, match="too large"):
        run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert queue.calls[-1] == "close"


def test_not_tolerated_record_is_reported_too_then_fails() -> None:
    queue = RememberedQueue()
    run, _ = sink_attempt(FlushingTask(), guard=tolerance(False), queue=queue, value=json())
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 1"):
        run.run(lambda: reader())  # type: ignore[arg-type, return-value]
    assert len(queue.letters) == 1


class Reporting(RecordingTask):
    """Reports what it cannot write, as KIP-610 has it."""

    def __init__(self, waits: bool = False) -> None:
        super().__init__()
        self.waits = waits
        self.futures: list[Future[None]] = []

    def put(self, records: Sequence[SinkRecord]) -> None:
        reporter = self.context.errant_record_reporter
        assert reporter is not None
        for record in records:
            if record.value == "bad":
                self.futures.append(reporter.report(record, ValueError("cannot write")))
                if self.waits:
                    self.futures[-1].result(1)


@pytest.mark.parametrize("waits", [False, True])
def test_errant_record_is_a_letter_of_the_task(waits: bool) -> None:
    queue, task = RememberedQueue(), Reporting(waits)
    run, _ = sink_attempt(task, guard=tolerance(True), queue=queue)
    run.run(lambda: GivenReader([raw(["good", "bad"])], {PART: 2}))  # type: ignore[arg-type, return-value]
    ((letter, context),) = queue.letters
    assert (letter.offset, letter.value, letter.key) == (1, b"bad", None)
    assert (context.stage, context.message) == ("TASK_PUT", "cannot write")
    assert context.executing_class.endswith("Reporting")
    assert task.futures[0].done()
    assert run.counts().skipped == 1


def test_errant_record_fails_the_task_where_errors_are_not_tolerated() -> None:
    run, _ = sink_attempt(Reporting(), queue=RememberedQueue())
    with pytest.raises(ConnectError, match=r"partition 0, offset 1 in stage TASK_PUT.*cannot write"):
        run.run(lambda: GivenReader([raw(["good", "bad"])], {PART: 2}))  # type: ignore[arg-type, return-value]


def test_record_of_the_tasks_own_making_is_converted_back() -> None:
    class Making(Reporting):
        def put(self, records: Sequence[SinkRecord]) -> None:
            assert self.context.errant_record_reporter is not None
            made = SinkRecord("elsewhere", 7, value="made", kafka_offset=99)
            self.context.errant_record_reporter.report(made, ValueError("cannot write"))

    queue = RememberedQueue()
    run, _ = sink_attempt(Making(), guard=tolerance(True), queue=queue)
    run.run(lambda: GivenReader([raw(["good"])], {PART: 1}))  # type: ignore[arg-type, return-value]
    ((letter, _),) = queue.letters
    assert (letter.topic, letter.partition, letter.offset, letter.value) == ("elsewhere", 7, 99, b"made")


@pytest.mark.parametrize(
    ("most", "left", "expected"),
    [
        (2200, (False, True), (b"2" * 900, None)),
        (1700, (False, False), (b"2" * 900, None)),
        (800, (False, False), (b"", b"900")),
    ],
)
def test_letter_too_large_for_kafka_goes_out_without_its_longest_parts(most: int, left: Any, expected: Any) -> None:
    queue = RememberedQueue(most_bytes=most)
    run, _ = sink_attempt(FlushingTask(), guard=tolerance(True), queue=queue, stages=[Always(RefuseTwo("no" * 300))])
    run.run(lambda: GivenReader([raw(["1", "2" * 900])], {PART: 2}))  # type: ignore[arg-type, return-value]
    ((letter, context),) = queue.letters
    assert (context.trace is not None, context.message is not None) == left
    assert (letter.value, dict(letter.headers).get("__connect.errors.value.left.out.bytes")) == expected
    assert (run.positions, run.counts().skipped) == ({PART: 2}, 1)


def test_letter_that_fits_in_no_form_is_logged_and_its_record_skipped(caplog: pytest.LogCaptureFixture) -> None:
    queue = RememberedQueue(most_bytes=10)
    run, _ = sink_attempt(FlushingTask(), guard=tolerance(True), queue=queue, stages=[Always(RefuseTwo())])
    run.run(lambda: GivenReader([raw(["1", "2"])], {PART: 2}))  # type: ignore[arg-type, return-value]
    assert "the dead letter of topic t, partition 0, offset 1 is lost" in caplog.text
    assert (queue.letters, run.positions, run.counts().skipped) == ([], {PART: 2}, 1)


def test_letter_that_kafka_refuses_for_another_reason_fails_the_task() -> None:
    class Broken(RememberedQueue):
        def report(self, letter: DeadLetter, context: ErrorContext) -> None:
            raise DataError("an earlier letter was too large for the broker")

    run, _ = sink_attempt(FlushingTask(), guard=tolerance(True), queue=Broken(), stages=[Always(RefuseTwo())])
    with pytest.raises(DataError, match="an earlier letter"):
        run.run(lambda: GivenReader([raw(["1", "2"])], {PART: 2}))  # type: ignore[arg-type, return-value]


class ReportingLate(RecordingTask):
    """Reports its first record in ``flush``, long after it was put."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.first = getattr(self, "first", records[0])

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        assert self.context.errant_record_reporter is not None
        self.context.errant_record_reporter.report(self.first, ValueError("cannot write"))


class Rename(RefuseTwo):
    """Changes a record's topic and value."""

    def apply(self, record: Record) -> Record | None:
        return replace(record, topic="renamed", value=f"new {record.value}")


@pytest.mark.parametrize(("most_bytes", "value"), [(10_000, b"0"), (1, b"new 0")])
def test_errant_record_reported_late_is_a_letter_as_it_was_read(most_bytes: int, value: bytes) -> None:
    queue = RememberedQueue()
    run, _ = sink_attempt(ReportingLate(), guard=tolerance(True), queue=queue, stages=[Always(Rename())])
    assert run.letters is not None
    run.letters._recent.most_bytes = most_bytes
    run.run(lambda: GivenReader([raw([str(at)], at) for at in range(9)], {PART: 9}))  # type: ignore[arg-type, return-value]
    ((letter, _),) = queue.letters
    assert (letter.topic, letter.partition, letter.offset, letter.value) == ("t", 0, 0, value)


@pytest.mark.parametrize(("safe", "remembered"), [(9, [8]), (8, list(range(9)))])
def test_batches_are_remembered_until_pre_commit_declares_all_safe(safe: int, remembered: list[int]) -> None:
    class Declaring(RecordingTask):
        def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
            return {PART: safe}

    run, _ = sink_attempt(Declaring(), guard=tolerance(True), queue=RememberedQueue())
    run.run(lambda: GivenReader([raw([str(at)], at) for at in range(9)], {PART: 9}))  # type: ignore[arg-type, return-value]
    letters = run.letters
    assert letters is not None
    assert [at for at in range(9) if letters.find(SinkRecord("t", 0, kafka_offset=at)) is not None] == remembered


def run_source(task: GuideTask, writer: RememberedWriter, has_context: bool = True) -> Any:
    letters = LettersOf("orders", 0, "dead", has_context)
    run = source_attempt(task, writer, guard=tolerance(True), stages=[Always(RefuseTwo())], letters=letters)
    run.run()
    return run


def test_bad_source_record_is_a_letter_in_its_transaction() -> None:
    writer = RememberedWriter()
    run = run_source(GuideTask(), writer)
    ((_, topic, key, value, headers),) = [call for call in writer.calls if call[0] == "letter"]
    assert (topic, key, value) == ("dead", None, b"line 2")
    assert headers["__connect.errors.topic"] == b"t"
    assert headers["__connect.errors.source.partition"] == b'{"p":1}'
    assert headers["__connect.errors.source.offset"] == b'{"n":2}'
    assert headers["__connect.errors.stage"] == b"TRANSFORMATION"
    assert writer.calls.index(("letter", topic, key, value, headers)) < [call[0] for call in writer.calls].index(
        "commit"
    )
    assert writer.committed == [b"line 1", b"line 3"]
    assert (run.counts().skipped, run.counts().dropped, run.skipped[0].records) == (1, 0, 1)
    assert run.skipped[0].sample == {"topic": "t", "source_partition": {"p": 1}, "source_offset": {"n": 2}}


def test_letter_without_context_is_the_record_alone() -> None:
    writer = RememberedWriter()
    run_source(GuideTask(), writer, has_context=False)
    assert [call[4] for call in writer.calls if call[0] == "letter"] == [{}]


@pytest.mark.parametrize("has_context", [True, False])
def test_source_record_too_large_for_kafka_is_a_letter_without_its_value(has_context: bool) -> None:
    class Large(GuideTask):
        def poll(self) -> Any:
            return [replace(one, value=one.value * 1000) for one in super().poll() or []] or None

    writer = RememberedWriter(most_bytes=2000, most_letter_bytes=2000)
    run = run_source(Large(), writer, has_context)
    letters = [call for call in writer.calls if call[0] == "letter"]
    assert [call[3] for call in letters] == [b""] * 3
    assert {call[4]["__connect.errors.value.left.out.bytes"] for call in letters} == {b"6000"}
    assert {"__connect.errors.topic" in call[4] for call in letters} == {has_context}
    assert run.counts().skipped == 3


def test_skipped_source_record_is_acknowledged_as_dropped() -> None:
    told: list[tuple[Any, bool]] = []

    class Telling(AcknowledgingTask):
        def commit_record(self, record: Any, metadata: Any) -> None:
            told.append((record.value, metadata is not None))

    writer = RememberedWriter()
    run_source(Telling(writer), writer)
    assert told == [("line 1", True), ("line 2", False), ("line 3", True)]
