"""A process of a history, and how it performs effects. Every ``yield`` names the next point."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from connect_core.errors import ConnectError, RetriableError, UnclearOutcomeError
from connect_core.interval import effects as fx
from connect_core.interval.failpoints import POINT_OF
from connect_core.interval.values import IntervalRow, TargetState, TaskPlan
from connect_core.plan.run import Steps
from tests.simulator.history import History
from tests.simulator.targets import acted
from tests.simulator.truth import Violation

__all__ = ["Fault", "Process", "Running", "performing"]

Fault = str | None
Running = Generator[Any, Fault, Any]
"""Yields the point before its next act, or what it waits for; is sent the fault of that act."""

_READS = (fx.LoadConnector, fx.LoadOffsets, fx.LoadUnfinished, fx.LoadResults, fx.LoadOffsetStates, fx.TaskConfigs,
          fx.LatestSourceOffsets, fx.ReadGroupOffsets, fx.ReadOffsetsTopic, fx.ReadPartitionEnds,
          fx.LoadConfig, fx.CompareTarget, fx.ReadLastInterval, fx.LoadTimeBefore, fx.ReadTimeBounds,
          fx.ReadExistingExports)  # fmt: skip
_GROUP_EFFECTS = (fx.CommitGroupOffsets, fx.ForgetGroup)
_WRITES = (
    *(kind for kind in POINT_OF if kind not in (fx.CommitTarget, fx.ReplaceTarget, fx.PublishTarget, fx.WriteOffsets)),
    *(fx.RaiseEpoch, fx.RaiseIncarnation, fx.RecordAssignment, fx.RecordLosses, fx.RecordFuture, fx.RepairOffsets),
)
"""What may be carried out long after whoever asked has given up."""


class Process:
    """One process: alive, paused and later revived as a zombie, or dead."""

    __slots__ = (
        "__weakref__",
        *(
            "target_state",
            "config",
            "assigned",
            "epoch",
            "gen",
            "has_moved",
            "is_begun",
            "is_done",
            "is_paused",
            "name",
            "parent",
        ),
        *("ends", "paused_at", "plan", "point", "positions", "result", "wait", "written"),
    )

    def __init__(self, name: str, gen: Running, parent: Process | None = None, plan: TaskPlan | None = None) -> None:
        self.name, self.gen, self.parent, self.plan = name, gen, parent, plan
        self.is_begun = self.is_done = self.is_paused = False
        self.point, self.paused_at = "K10", ""
        self.wait: Callable[[], bool] | None = None
        self.result: Any = None
        self.epoch = self.written = 0
        self.has_moved = False
        self.config: Mapping[str, str] = {}
        """The configuration it read last, which its connector and committer follow."""
        self.target_state: TargetState | None = None
        """What a plan saw the connector was to be, when it began."""
        self.assigned = 0
        self.positions: Mapping[Any, int] = {}
        self.ends: Mapping[Any, Any] = {}
        """What its last plan has read of them."""


def performing(history: History, process: Process, steps: Steps[Any], delayed: list[Callable[[], Any]]) -> Running:
    """Perform a production protocol: each effect is one act, some are several."""
    try:
        effect = next(steps)
        while True:
            fault = yield POINT_OF.get(type(effect), "K0")
            try:
                answer = yield from _act(history, process, effect, fault, delayed)
            except ConnectError as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(answer)
    except StopIteration as end:
        return end.value


def _act(history: History, process: Process, effect: Any, fault: Fault, delayed: list[Callable[[], Any]]) -> Running:
    handler = history.table[type(effect)]
    history.config, history.actor = process.config, process
    if isinstance(effect, _GROUP_EFFECTS):
        return _act_on_group(handler, effect, fault, delayed)
    if fault == "lost request" or (fault is not None and isinstance(effect, _READS)):
        raise RetriableError(f"{type(effect).__name__} was never asked")
    if fault == "delay" and isinstance(effect, _WRITES):
        delayed.append(_late(history, process, effect))
        raise UnclearOutcomeError(f"{type(effect).__name__} is late")
    answer = yield from acted(handler(effect))
    _note(history, process, effect, answer)
    if fault is not None:
        raise UnclearOutcomeError(f"the answer of {type(effect).__name__} was lost")
    return answer


def _late(history: History, process: Process, effect: Any) -> Callable[[], None]:
    """Return an act as it is carried out long after: all of it at once, as whoever asked for it would have."""
    config = process.config

    def act() -> None:
        before = history.config, history.actor
        history.config, history.actor = config, process
        try:
            for _ in acted(history.table[type(effect)](effect)):
                pass
        finally:
            history.config, history.actor = before

    return act


def _act_on_group(handler: Callable[[Any], Any], effect: Any, fault: Fault, delayed: list[Callable[[], Any]]) -> None:
    """Act on a consumer group: trouble with it is logged, never raised."""
    if fault == "delay":
        delayed.append(lambda: handler(effect))
    elif fault != "lost request":
        handler(effect)


def _note(history: History, process: Process, effect: Any, answer: Any) -> None:
    """Remember what the checks need of an effect that was performed."""
    match effect:
        case fx.RaiseEpoch() | fx.StoreIntent():
            process.epoch = answer
            if isinstance(effect, fx.StoreIntent):
                history.offset_requests.add(answer)
        case fx.WriteOffsets():
            process.has_moved = True
        case fx.LoadConnector():
            process.config = answer.config
            process.target_state = process.target_state or answer.target_state
        case fx.RecordAssignment():
            process.assigned = effect.config_version
        case fx.InsertInterval():
            _check_begin(process, effect.row)
    _note_places(process, effect, answer)
    _note_fence(history, process, effect)


def _note_places(process: Process, effect: Any, answer: Any) -> None:
    """Remember what a plan has read, by which it bounds the next interval."""
    match effect:
        case fx.LoadOffsets():
            process.positions = answer
        case fx.ReadPartitionEnds():
            process.ends = answer


def _note_fence(history: History, process: Process, effect: Any) -> None:
    """Remember what nothing older may commit after."""
    match effect:
        case fx.WriteEpoch():
            process.written = effect.epoch
        case fx.FenceProducers():
            # Before the epoch stands in the topic a late attempt may still begin.
            history.truth.fence(process.written)
        case fx.InsertInterval() | fx.RestartInterval() if history.kind == "source":
            history.truth.fence(process.epoch)


def _check_begin(process: Process, row: IntervalRow) -> None:
    if process.target_state is not TargetState.STARTED:
        raise Violation(f"I9 interval {row.key.sequence} begins, though the connector was {process.target_state}")
    if row.config_version != process.assigned:
        raise Violation(
            f"I6 interval {row.key.sequence} has configuration {row.config_version}, not {process.assigned}"
        )
