"""A run: one holder processing a connector, interval after interval."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from connect_core.interval.effects import Effect, LoadUnfinished, ReleaseLease, SweepTarget, TakeLease
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalRow,
    IntervalSettings,
    Plan,
    TaskAssignment,
    TaskPlan,
    TaskResult,
)

__all__ = ["Run", "Steps", "begin_run", "clear_target", "end_run", "make_plan"]

Result = TypeVar("Result")
"""The result of a protocol generator."""

Steps = Generator[Effect[Any], Any, Result]
"""A protocol: yields effects, is sent their results, returns a result."""


@dataclass(frozen=True, slots=True)
class Run:
    """The state of one holder while it has the connector.

    ``epoch`` is ``None`` until the target is fenced, and again after any unclear
    outcome; ``assignment`` is the assignment that was fenced.
    """

    connector: str
    holder: str
    deployment: str
    worker: Mapping[str, str]
    state: ConnectorState
    settings: IntervalSettings
    settings_of: Callable[[ConnectorState], IntervalSettings]
    new_attempt_id: Callable[[], str]
    transactional_id: Callable[[str, str, int], str]
    bound_time: datetime | None = None
    since: datetime | None = None
    """For a backfill: it exports the time from then to ``bound_time`` again, and moves no position."""
    sequence_before: int | None = None
    """For a backfill: the last interval before its first."""
    epoch: int | None = None
    assignment: str | None = None
    is_settling: bool = False
    """Whether it only ends what is unfinished, for a connector that must not run."""

    def refreshed(self, state: ConnectorState) -> Run:
        """Return the run with the connector's current row."""
        return replace(self, state=state, settings=self.settings_of(state))

    def unfenced(self) -> Run:
        """Return the run after an unclear outcome: the next plan fences again."""
        return replace(self, epoch=None, assignment=None)

    @property
    def read_before(self) -> datetime | None:
        """Where ``interval.bound=data_interval_end`` ends an interval; else ``None``."""
        return self.bound_time if self.settings.bound == "data_interval_end" else None

    @property
    def mine(self) -> int:
        """The epoch, once fenced."""
        assert self.epoch is not None
        return self.epoch


def begin_run(connector: str, holder: str, lease_seconds: float) -> Steps[ConnectorState | None]:
    """Take the connector's lease → its row, or ``None`` while another holder's lease is valid.

    Raises NotFoundError.
    """
    state = yield from TakeLease(connector, holder, lease_seconds)
    return state


def clear_target(run: Run) -> Steps[None]:
    """Remove staged leftovers of finished intervals; what may still be needed is kept."""
    if run.state.type is ConnectorType.SINK:
        unfinished = yield from LoadUnfinished(run.connector)
        yield from SweepTarget(run.connector, () if unfinished is None else (unfinished.key,))


def end_run(run: Run) -> Steps[None]:
    """Release the connector's lease."""
    yield from ReleaseLease(run.connector, run.holder)


def make_plan(
    run: Run,
    row: IntervalRow,
    assignment: TaskAssignment,
    shares: Mapping[int, TaskPlan],
    kept: Sequence[TaskResult] = (),
) -> Plan:
    """Return the plan of an interval, by its tasks' shares of it; tasks with ``kept`` results do not run."""
    held = {result.task for result in kept}
    tasks = tuple(
        replace(share, task_config=assignment.configs[task], attempt_id=f"{run.mine}-{run.new_attempt_id()}")
        for task, share in sorted(shares.items())
        if task not in held
    )
    return Plan(row, tasks, assignment, kept=tuple(kept))
