"""A run of a driver, or of a backfill: plans an interval, starts its tasks, commits it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from connect_core.commit.interval import Committed, commit_interval
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.values import Plan, TaskOutcome, TaskResult
from connect_core.plan.interval import Planned, plan_interval
from connect_core.plan.run import Run, begin_run, end_run
from tests.simulator.attempts import task_attempt
from tests.simulator.backfills import check_finished, hour
from tests.simulator.history import History
from tests.simulator.metadata import NAME
from tests.simulator.processes import Process, Running, performing
from tests.simulator.truth import Violation

if TYPE_CHECKING:
    from tests.simulator.schedule import Schedule

__all__ = ["backfiller", "driver"]


def driver(world: Schedule, name: str) -> Running:
    """Drive a run as ``spark.job.main`` does, unless the watcher leaves the connector alone."""
    if not (world.history.is_held_back and world.history.sql.is_held):
        yield from _drive(world, name)


def backfiller(world: Schedule, number: int) -> Running:
    """Export an hour again, as a run of Airflow's backfill does."""
    yield from _drive(world, world.current.name, number)


def _note_end(world: Schedule, process: Process, planned: Planned) -> None:
    """Note how a backfill's run ends, and look at what it says that it has done."""
    if planned.refusal is not None:
        world.note(f"{process.name}: refused: {planned.refusal}")
    elif planned.run.since is not None:
        world.note(f"{process.name}: all since {planned.run.since} stands")
        history: History = world.history
        check_finished(history.home(process.config), planned.run, process.positions, process.ends)


def _drive(world: Schedule, name: str, number: int | None = None) -> Running:
    """Work the connector off, or an hour of it again; tasks are processes of their own."""
    history: History = world.history
    process: Process = world.current
    times: dict[str, Any] = {} if number is None else {"since": hour(number), "bound_time": hour(number + 1)}
    run = replace(history.run(name), **times)
    try:
        state = yield from performing(history, process, begin_run(NAME, name, 20.0), world.delayed)
        if state is None:
            return None
        run = run.refreshed(state)
        for _ in range(world.intervals):
            process.target_state = None
            planned = yield from performing(history, process, plan_interval(run), world.delayed)
            run = planned.run
            if planned.plan is None:
                _note_end(world, process, planned)
                break
            committed = yield from _interval(world, process, run, planned.plan)
            if committed is Committed.FAILED or world.is_through():
                break
            if committed is Committed.UNCLEAR:
                run = run.unfenced()
        yield from performing(history, process, end_run(run), world.delayed)
    except ConnectError as error:
        world.note(f"{name}: {type(error).__name__}: {error}")
        if not isinstance(error, StaleEpochError):
            yield from _ended(world, process, run)
    return None


def _interval(world: Schedule, process: Process, run: Run, plan: Plan) -> Running:
    """Start the job of a planned interval, wait for its tasks, commit → what became of it."""
    world.tasks_of_epoch[run.mine] = plan.row.tasks
    if (yield "K2") is not None:
        raise RetriableError("Spark does not answer")
    tasks = [world.spawn(f"{process.name}.{task.task}", task_attempt, task) for task in plan.tasks]
    yield lambda: all(task.is_done or task.is_paused for task in tasks)
    results = [task.result for task in tasks if isinstance(task.result, TaskResult)]
    committed = yield from performing(world.history, process, commit_interval(run, plan, results), world.delayed)
    failed = {task.task for task in plan.tasks} - {one.task for one in results if one.outcome is TaskOutcome.DONE}
    if committed is Committed.COMMITTED and failed:
        raise Violation(f"I9 interval {plan.row.key.sequence} is committed, and tasks {failed} are not done")
    return committed


def _ended(world: Schedule, process: Process, run: Run) -> Running:
    try:
        yield from performing(world.history, process, end_run(run), world.delayed)
    except ConnectError:
        return
