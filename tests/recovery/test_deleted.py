"""A connector is deleted and created again: what only its target knows is asked there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from connect_core.effects.perform import perform
from connect_core.errors import RetriableError, StaleEpochError
from connect_core.herder.rewriting import end_connector
from connect_core.interval import effects as fx
from connect_core.interval.values import TargetState
from connect_core.plan.abandon import OffsetRequest, abandon
from connect_core.plan.interval import plan_interval
from tests.recovery.sinks import NAME, Sink, lines, new_database, topics_of

pytestmark = pytest.mark.slow


class Operator:
    """What ``end_connector`` needs of a herder, over the handlers of a sink."""

    actor = "jo"

    def __init__(self, sink: Sink, interfere: Callable[[dict[Any, Any]], None] = lambda handlers: None) -> None:
        self.sink, self.database, self.interfere, self.tries = sink, sink.database, interfere, 0

    def rewrite_offsets(self, herder: Any, connector: str, wanted: Any, *, is_deleted: bool = False) -> None:
        self.tries += 1
        handlers = self.sink.handlers()
        self.interfere(handlers)
        state = handlers[fx.LoadConnector](fx.LoadConnector(connector))
        perform(abandon(self.sink.driven(state), OffsetRequest(wanted, "jo")), handlers)
        if is_deleted:
            handlers[fx.ReleaseTarget](fx.ReleaseTarget(connector))

    def delete(self) -> None:
        self.sink.aim(TargetState.STOPPED)
        end_connector(self, NAME, forget_offsets=False)  # type: ignore[arg-type]
        self.sink.delete()


@pytest.fixture
def sink(tmp_path: Any) -> Sink:
    made = Sink(tmp_path, topics_of("a", "b", "c"), new_database(tmp_path), {"file": "one.txt", "topics": "t"})
    made.create()
    return made


def unreachable(handlers: dict[Any, Any]) -> None:
    def fail(effect: fx.Effect[Any]) -> Any:
        raise RetriableError("the mount does not answer")

    handlers[fx.FenceTarget] = handlers[fx.ReadTargetMarker] = fail


@pytest.mark.parametrize("point", [fx.CommitTarget, fx.PublishTarget, fx.CommitInterval])
def test_successor_asks_the_target_that_did_not_answer_the_delete(sink: Sink, point: type[fx.Effect[Any]]) -> None:
    sink.die(point)
    Operator(sink, unreachable).delete()
    sink.create()
    sink.topics.produce("d")
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(sink.root / "one.txt") == ["a", "b", "c", "d"]


def test_successor_with_another_target_asks_the_earlier_one(sink: Sink) -> None:
    sink.die(fx.CommitInterval)
    Operator(sink, unreachable).delete()
    sink.config = {**sink.config, "file": "two.txt"}
    sink.create()
    assert sink.work() == ["IDLE"]
    assert lines(sink.root / "two.txt") == []


def test_successor_with_another_target_does_not_wait_for_the_earlier_one(sink: Sink) -> None:
    (sink.root / "in").mkdir()
    sink.configure(file="in/one.txt")
    sink.die(fx.CommitInterval)
    Operator(sink, unreachable).delete()
    shutil.rmtree(sink.root / "in")
    (sink.root / "in").symlink_to("/proc")
    sink.config = {**sink.config, "file": "two.txt"}
    sink.create()
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(sink.root / "two.txt") == ["a", "b", "c"]
    assert [state for _, state, _ in sink.history()] == ["ABANDONED", "COMMITTED"]


def test_a_run_that_settles_at_once_does_not_make_the_delete_forget_the_target(sink: Sink) -> None:
    """A retry of the crashed run stands before its commit in SQL each time the delete has fenced."""
    sink.die(fx.CommitInterval)

    def race(handlers: dict[Any, Any]) -> None:
        fence = handlers[fx.FenceTarget]

        def fence_then_settle(effect: fx.FenceTarget) -> Any:
            answer = fence(effect)
            steps, others = plan_interval(sink.run_of("run h 2")), sink.handlers()
            step = next(steps)
            while not isinstance(step, fx.CommitInterval):
                step = steps.send(others[type(step)](step))
            return answer

        handlers[fx.FenceTarget] = fence_then_settle

    operator = Operator(sink, race)
    operator.delete()
    assert operator.tries == 3
    sink.create()
    assert sink.work("run h 3") == ["IDLE"]
    assert lines(sink.root / "one.txt") == ["a", "b", "c"]
    assert sink.positions() == {"t-0": 3}


def test_a_delete_that_was_overtaken_once_is_tried_again(sink: Sink) -> None:
    sink.die(fx.CommitInterval)
    overtaken = iter([StaleEpochError("overtaken")])

    def overtake_once(handlers: dict[Any, Any]) -> None:
        for error in overtaken:
            raise error

    operator = Operator(sink, overtake_once)
    operator.delete()
    assert operator.tries == 2
    assert sink.positions() == {"t-0": 3}
