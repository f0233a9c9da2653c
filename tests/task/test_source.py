"""Source tasks: Connect's call order, and where an interval ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import SourceRecord
from connect_core.api.source import RecordMetadata, SourceTask
from connect_core.errors import ConnectError, DataError, RetriableError, UnclearOutcomeError
from connect_core.interval.values import IntervalCaps
from connect_core.task.hooks import HookTimeoutError
from connect_core.task.source import TransactionBoundary
from connect_core.task.timeouts import Timeouts
from connect_core.task.tolerance import Tolerance, ToleranceSettings
from tests.task.equipment import RememberedWriter, source_attempt

pytestmark = pytest.mark.slow


def record(number: int) -> SourceRecord:
    return SourceRecord(
        "t",
        value_schema=STRING_SCHEMA,
        value=f"line {number}",
        source_partition={"p": 1},
        source_offset={"n": number},
    )


class GuideTask(SourceTask):
    """As Connect's guide writes a source: start, a poll that blocks, stop; nothing else."""

    def __init__(self, count: int = 3) -> None:
        self.count = count
        self.sent = 0
        self.stopped = threading.Event()

    def start(self, config: Mapping[str, str]) -> None:
        self.config = config

    def poll(self) -> Sequence[SourceRecord] | None:
        if self.sent == self.count:
            self.stopped.wait()
            return None
        self.sent += 1
        return [record(self.sent)]

    def stop(self) -> None:
        self.stopped.set()


class AcknowledgingTask(GuideTask):
    """Tells its source what is done: nothing may be told before the transaction has committed."""

    def __init__(self, writer: RememberedWriter) -> None:
        super().__init__()
        self.writer = writer

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        assert metadata is not None
        self.writer.calls.append(("commit_record", record.value, metadata.offset))

    def commit(self) -> None:
        self.writer.calls.append(("task.commit",))


def test_guide_source_ends_when_idle() -> None:
    writer = RememberedWriter()
    task = GuideTask()
    source_attempt(task, writer).run()
    assert writer.committed == [b"line 1", b"line 2", b"line 3"]
    assert writer.offsets == {'{"p":1}': {"n": 3}}
    assert task.stopped.is_set()


def test_acknowledgements_follow_the_commit() -> None:
    writer = RememberedWriter()
    source_attempt(AcknowledgingTask(writer), writer).run()
    assert [call for call in writer.calls if call[0] != "produce"] == [
        ("commit", [{"n": 3}]),
        ("commit_record", "line 1", 0),
        ("commit_record", "line 2", 1),
        ("commit_record", "line 3", 2),
        ("task.commit",),
    ]


class PassingOverTask(AcknowledgingTask):
    """Reads only what it passes over, and tells its source so in ``commit``."""

    def poll(self) -> Sequence[SourceRecord] | None:
        return []


def test_commit_is_called_where_no_record_was_returned() -> None:
    writer = RememberedWriter()
    source_attempt(PassingOverTask(writer), writer).run()
    assert writer.calls == [("task.commit",)]


def test_nothing_is_acknowledged_when_the_commit_is_unclear() -> None:
    writer = RememberedWriter(fails_commit=UnclearOutcomeError("no answer"))
    with pytest.raises(UnclearOutcomeError):
        source_attempt(AcknowledgingTask(writer), writer).run()
    assert [call for call in writer.calls if call[0] != "produce"] == []


def test_record_cap_ends_the_interval() -> None:
    writer = RememberedWriter()
    run = source_attempt(GuideTask(1000), writer, IntervalCaps(records=5, idle_milliseconds=5000))
    run.run()
    assert len(writer.committed) >= 5
    assert len(writer.committed) < 1000
    assert run.is_capped()


class SnapshotTask(GuideTask):
    """Takes a snapshot that begins again after an interruption, and has its last row ready before the first is sent."""

    def __init__(self, count: int, last_is_polled: threading.Event) -> None:
        super().__init__(count)
        self.last_is_polled = last_is_polled

    def poll(self) -> Sequence[SourceRecord] | None:
        found = super().poll()
        if self.sent == self.count:
            self.last_is_polled.set()
        return found

    def is_interruptible(self) -> bool:
        return self.sent in (0, self.count)


def test_cap_does_not_end_the_interval_before_the_last_row_of_a_snapshot_that_waits() -> None:
    last_is_polled = threading.Event()

    class Slow(RememberedWriter):
        def produce(self, *given: Any) -> Any:
            assert last_is_polled.wait(30)
            return super().produce(*given)

    writer = Slow()
    run = source_attempt(SnapshotTask(2, last_is_polled), writer, IntervalCaps(records=1, idle_milliseconds=5000))
    run.run()
    assert writer.committed == [b"line 1", b"line 2"]


def test_time_that_sending_takes_is_not_idle_time() -> None:
    sent = threading.Event()

    class Slow(RememberedWriter):
        def produce(self, *given: Any) -> Any:
            time.sleep(2.2 * (not sent.is_set()))
            sent.set()
            return super().produce(*given)

    class Prompt(GuideTask):
        def poll(self) -> Sequence[SourceRecord] | None:
            if self.sent:
                assert sent.wait(30)
            return super().poll()

    writer = Slow()
    source_attempt(Prompt(20), writer, IntervalCaps(idle_milliseconds=2000)).run()
    assert len(writer.committed) == 20


def test_time_cap_ends_the_interval() -> None:
    began = time.monotonic()
    run = source_attempt(GuideTask(0), RememberedWriter(), IntervalCaps(milliseconds=200, idle_milliseconds=60_000))
    run.control.stopping.clear()
    threading.Timer(0.3, run.control.stopping.set).start()
    run.control.caps = IntervalCaps(milliseconds=200, idle_milliseconds=300)
    run.run()
    assert time.monotonic() - began < 10


def test_stop_commits_what_is_done() -> None:
    writer = RememberedWriter()
    run = source_attempt(GuideTask(2), writer, IntervalCaps(idle_milliseconds=300))
    run.control.stopping.set()
    run.run()
    assert len(writer.committed) == len([call for call in writer.calls if call[0] == "produce"])


def test_retriable_poll_is_polled_again() -> None:
    class Flaky(GuideTask):
        failed = False

        def poll(self) -> Sequence[SourceRecord] | None:
            if not self.failed:
                self.failed = True
                raise RetriableError("away")
            return super().poll()

    writer = RememberedWriter()
    source_attempt(Flaky(), writer, IntervalCaps(idle_milliseconds=1500)).run()
    assert len(writer.committed) == 3


@pytest.mark.parametrize("hook", ["initialize", "start", "poll", "commit_record", "commit"])
def test_failing_hook_fails_the_task_with_its_cause(hook: str) -> None:
    def fail(*arguments: object) -> None:
        raise ValueError("broken")

    broken = type("Broken", (GuideTask,), {hook: fail})
    with pytest.raises(ConnectError, match=rf"Broken\.{hook} raised ValueError: broken") as raised:
        source_attempt(broken(), RememberedWriter()).run()
    assert isinstance(raised.value.__cause__, ValueError)


class FailingTask(AcknowledgingTask):
    """Its poll fails behind its last record."""

    def poll(self) -> Sequence[SourceRecord] | None:
        if self.sent == self.count:
            raise ConnectError("connection lost")
        return super().poll()


def test_what_was_polled_before_a_poll_fails_is_committed() -> None:
    writer = RememberedWriter()
    attempt = source_attempt(FailingTask(writer), writer)
    with pytest.raises(ConnectError, match="connection lost"):
        attempt.run()
    assert writer.committed == [b"line 1", b"line 2", b"line 3"]
    assert attempt.offsets == {'{"p":1}': {"n": 3}}
    assert attempt.counts().records == 3
    assert writer.calls[-1] == ("task.commit",)


def test_a_transaction_that_the_task_holds_open_is_not_committed_when_a_poll_fails() -> None:
    writer = RememberedWriter()
    attempt = source_attempt(FailingTask(writer), writer, boundary=TransactionBoundary(is_connectors=True))
    with pytest.raises(ConnectError, match="connection lost"):
        attempt.run()
    assert writer.committed == []


def test_an_error_of_ours_stays_as_it_is() -> None:
    class Refused(GuideTask):
        def start(self, config: Mapping[str, str]) -> None:
            raise DataError("no such table") from KeyError("t")

    with pytest.raises(DataError, match="no such table") as raised:
        source_attempt(Refused(), RememberedWriter()).run()
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize("hook", ["start", "commit"])
def test_hanging_hook_is_named_with_its_place(hook: str) -> None:
    released = threading.Event()

    def hang(*arguments: object) -> None:
        released.wait()

    hanging = type("Hanging", (GuideTask,), {hook: hang, "__module__": __name__})
    run = source_attempt(hanging(), RememberedWriter(), timeouts=Timeouts(hook_seconds=0.3))
    with pytest.raises(HookTimeoutError, match=rf"Hanging\.{hook} did not return within 0\.3 s; it is at .* in hang"):
        run.run()
    released.set()


def test_interval_ends_though_poll_never_does() -> None:
    released = threading.Event()

    class Deaf(GuideTask):
        def stop(self) -> None:
            """Do nothing."""

        def poll(self) -> Sequence[SourceRecord] | None:
            if self.sent == self.count:
                released.wait()
                return None
            return super().poll()

    writer = RememberedWriter()
    source_attempt(Deaf(), writer, timeouts=Timeouts(stop_seconds=0.2)).run()
    assert len(writer.committed) == 3
    released.set()


def test_slow_poll_is_waited_for() -> None:
    class Slow(GuideTask):
        def poll(self) -> Sequence[SourceRecord] | None:
            self.stopped.wait()
            return super().poll()

    writer = RememberedWriter()
    source_attempt(Slow(2), writer, IntervalCaps(milliseconds=300, idle_milliseconds=100)).run()
    assert writer.committed == [b"line 1"]
    assert writer.offsets == {'{"p":1}': {"n": 1}}


def test_what_poll_raises_after_stop_concerns_nobody() -> None:
    class Closed(GuideTask):
        def poll(self) -> Sequence[SourceRecord] | None:
            records = super().poll()
            if self.stopped.is_set():
                raise ValueError("read of closed file")
            return records

    writer = RememberedWriter()
    source_attempt(Closed(), writer).run()
    assert len(writer.committed) == 3


def test_stop_may_fail_or_hang_after_the_commit() -> None:
    class Stubborn(GuideTask):
        def stop(self) -> None:
            super().stop()
            raise ValueError("cannot stop")

    writer = RememberedWriter()
    source_attempt(Stubborn(), writer).run()
    assert len(writer.committed) == 3


def test_start_and_poll_share_a_thread() -> None:
    threads = set()

    class Bound(GuideTask):
        def start(self, config: Mapping[str, str]) -> None:
            threads.add(threading.get_ident())

        def poll(self) -> Sequence[SourceRecord] | None:
            threads.add(threading.get_ident())
            return super().poll()

    source_attempt(Bound(), RememberedWriter()).run()
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_reached_bound_ends_the_interval_at_once() -> None:
    class Bounded(GuideTask):
        def poll(self) -> Sequence[SourceRecord] | None:
            return None if self.sent == self.count else super().poll()

    writer = RememberedWriter()
    began = time.monotonic()
    source_attempt(Bounded(), writer, IntervalCaps(idle_milliseconds=60_000), upper={'{"p":1}': {"n": 3}}).run()
    assert len(writer.committed) == 3
    assert time.monotonic() - began < 30


def test_full_transactions_are_committed_one_by_one() -> None:
    writer = RememberedWriter()
    source_attempt(GuideTask(5), writer, boundary=TransactionBoundary(records=2)).run()
    commits: list[Any] = [call[1] for call in writer.calls if call[0] == "commit"]
    assert commits == [[{"n": 2}], [{"n": 4}], [{"n": 5}]]


class Uneven(AcknowledgingTask):
    """The second of three records is too large for the client."""

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        self.writer.calls.append(("commit_record", record.value, metadata and metadata.offset))

    def poll(self) -> Sequence[SourceRecord] | None:
        records = super().poll()
        return records and [replace(one, value="x" * 50) if self.sent == 2 else one for one in records]


def test_record_the_client_does_not_take_is_skipped_where_errors_are_tolerated() -> None:
    writer = RememberedWriter(most_bytes=20)
    run = source_attempt(Uneven(writer), writer, guard=Tolerance(ToleranceSettings(tolerate_all=True)))
    run.run()
    assert writer.committed == [b"line 1", b"line 3"]
    assert writer.offsets == {'{"p":1}': {"n": 3}}
    assert [call for call in writer.calls if call[0] == "commit_record"] == [
        ("commit_record", "line 1", 0),
        ("commit_record", "x" * 50, None),
        ("commit_record", "line 3", 1),
    ]
    assert (run.counts().records, run.counts().skipped, run.counts().dropped) == (3, 1, 0)
    (skipped,) = run.skipped
    assert (skipped.stage, skipped.records) == ("KAFKA_PRODUCE", 1)


def test_record_the_client_does_not_take_fails_the_task_where_they_are_not() -> None:
    writer = RememberedWriter(most_bytes=20)
    with pytest.raises(DataError, match="50 bytes"):
        source_attempt(Uneven(writer), writer).run()
    assert b"line 3" not in writer.committed
