"""Hooks of sink tasks: called in order in one thread; raising, hanging, asked for a commit in between."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask
from connect_core.errors import ConnectError, RetriableError
from connect_core.task.hooks import HookTimeoutError
from connect_core.task.timeouts import Timeouts
from tests.task.equipment import PART, GivenReader, raw, sink_attempt
from tests.task.test_sink import FlushingTask, RecordingTask

pytestmark = pytest.mark.slow

HOOKS = ["start", "open", "put", "pre_commit", "close"]


def reader() -> GivenReader:
    return GivenReader([raw(["a", "b"]), raw(["c"], 2)], {PART: 7})


def run(task: SinkTask, **more: Any) -> Any:
    one, _ = sink_attempt(task, **more)
    one.run(lambda: reader())  # type: ignore[arg-type, return-value]
    return one


@pytest.mark.parametrize("hook", HOOKS)
def test_what_a_hook_raises_is_told_with_its_cause_and_the_task_is_stopped(hook: str) -> None:
    def fail(*arguments: object) -> None:
        raise ValueError("broken")

    task: Any = type("Broken", (RecordingTask,), {hook: fail})()
    with pytest.raises(ConnectError, match=rf"Broken\.{hook} raised ValueError: broken") as raised:
        run(task)
    assert isinstance(raised.value.__cause__, ValueError)
    assert not isinstance(raised.value, RetriableError)
    assert task.calls[-1] == "stop"


@pytest.mark.parametrize("hook", ["put", "pre_commit"])
def test_failed_task_closes_what_it_opened(hook: str) -> None:
    def fail(*arguments: object) -> None:
        raise ValueError("broken")

    task: Any = type("Broken", (RecordingTask,), {hook: fail})()
    with pytest.raises(ConnectError):
        run(task)
    assert task.calls[-2:] == ["close", "stop"]


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_that_hangs_ends_in_time_and_is_named(hook: str) -> None:
    released = threading.Event()

    def hang(*arguments: object) -> None:
        released.wait()

    task: Any = type("Hanging", (RecordingTask,), {hook: hang, "__module__": __name__})()
    with pytest.raises(HookTimeoutError, match=rf"Hanging\.{hook} did not return within 0\.3 s; it is at .* in hang"):
        run(task, timeouts=Timeouts(hook_seconds=0.3))
    assert task.calls[-1] == "stop"
    released.set()


@pytest.mark.parametrize("hangs", [True, False], ids=["hangs", "raises"])
def test_stop_changes_nothing_any_more(hangs: bool) -> None:
    released = threading.Event()

    class Stubborn(RecordingTask):
        def stop(self) -> None:
            if hangs:
                released.wait()
            raise ValueError("cannot stop")

    assert run(Stubborn(), timeouts=Timeouts(stop_seconds=0.3)).positions == {PART: 7}
    released.set()


def test_every_hook_is_called_in_one_thread() -> None:
    threads: set[int] = set()

    class Bound(RecordingTask):
        def start(self, config: Mapping[str, str]) -> None:
            threads.add(threading.get_ident())

        def put(self, records: Sequence[SinkRecord]) -> None:
            threads.add(threading.get_ident())

        def close(self, partitions: Collection[TopicPartition]) -> None:
            threads.add(threading.get_ident())

        def stop(self) -> None:
            threads.add(threading.get_ident())

    run(Bound())
    assert len(threads) == 1


def test_asked_for_commit_flushes_in_between() -> None:
    class Asking(FlushingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            self.context.request_commit()

    task = Asking()
    assert run(task).positions == {PART: 7}
    assert task.calls[2:6] == [("put", ["a", "b"]), ("flush", {PART: 2}), ("put", ["c"]), ("flush", {PART: 7})]


def test_flush_comes_now_and_then_by_itself() -> None:
    task = FlushingTask()
    run(task, timeouts=Timeouts(flush_seconds=0.0))
    assert [call for call in task.calls if call[0] == "flush"] == [("flush", {PART: 2}), ("flush", {PART: 7})]


def test_records_are_put_again_only_for_so_long() -> None:
    class Busy(RecordingTask):
        def put(self, records: Sequence[SinkRecord]) -> None:
            super().put(records)
            self.context.timeout(20)
            raise RetriableError("busy")

    task = Busy()
    with pytest.raises(RetriableError, match="busy"):
        run(task, timeouts=Timeouts(retry_seconds=0.05))
    assert 2 <= len([call for call in task.calls if call[0] == "put"]) <= 5
