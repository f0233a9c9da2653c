"""Each check of ``plan`` and ``commit`` taken out of the production text: the simulator must notice."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from connect_core.commit import backfill as replacing
from connect_core.commit import interval as committing
from connect_core.plan import (
    abandon,
    backfill,
    bounds,
    ending,
    fence,
    interval,
    recovery,
    restart,
    settle,
    sink,
    source,
)
from tests.simulator.chances import Plot
from tests.simulator.traits import Traits
from tests.simulator.wrong import Patch

__all__ = ["MISSING", "UNSEEN", "Check", "without"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check, where it stands, the text that takes its place, and the faults that lead to its need."""

    kind: str
    """The kind of connector that shows its absence."""
    module: ModuleType
    text: str
    instead: str
    plot: Plot = ()
    traits: Traits = field(default_factory=dict)


def without(module: ModuleType, text: str, instead: str) -> tuple[Patch, ...]:
    """Return patches that take a piece of a module's text for another."""
    source_text = inspect.getsource(module)
    assert source_text.count(text) == 1, f"{text!r} is {source_text.count(text)} times in {module.__name__}"
    names = dict(vars(module))
    exec(compile(source_text.replace(text, instead), module.__file__ or "", "exec"), names)
    return tuple(
        (function, "__code__", names[name].__code__)
        for name, function in vars(module).items()
        if isinstance(function, FunctionType) and function.__module__ == module.__name__
        and _shape(function) != _shape(names[name])
    )  # fmt: skip


def _shape(function: FunctionType) -> tuple[object, ...]:
    code = function.__code__
    return code.co_code, repr(code.co_consts), code.co_names


_AGAIN: Mapping[str, Any] = {"traits": {"has_backfills": True}}

MISSING: Mapping[str, Check] = MappingProxyType(
    {
        # plan: fencing
        # As "source reassigned, old tasks not fenced" of wrong.py.
        "all ids ever used are fenced": Check(
            "source", fence, "max(run.state.tasks_ever, tasks)", "tasks", plot=(("K6", "zombie"), ("K3", "revived"))
        ),
        "tasks are assigned by the configuration that is written down": Check(
            "plain", fence, "if state.config_version != run.state.config_version and", "if False and"
        ),
        # plan: what to do
        "a paused connector begins nothing": Check(
            "files", interval, "if state.target_state is not TargetState.STARTED:", "if False:"
        ),
        "a target's positions beat SQL's": Check(
            "database", sink, "    if kept is None:\n        return stored", "    if True:\n        return stored"
        ),
        "a consumer group is adopted once": Check("files", sink, "if run.state.sequence == 0:", "if True:"),
        "a recreated topic is another": Check("files", bounds, "if not (was and now) or was == now:", "if True:"),
        "removed records are noticed": Check("database", bounds, "if position < ends.earliest:", "if False:"),
        "losses are passed over only where they may be": Check(
            "files", bounds, 'if losses and policy != "skip":', "if False:"
        ),
        "a target passes over what is lost": Check(
            "database",
            sink,
            "    if moves_target:\n        yield from AbandonTarget(_following(run), {loss",
            "    if False:\n        yield from AbandonTarget(_following(run), {loss",
        ),
        # plan: what is unfinished
        "an abort mark is respected by plan": Check("files", recovery, "    if marker.aborted:", "    if False:"),
        "losses are noticed in a retry": Check(
            "files",
            sink,
            "losses = find_losses(unread, ends, {part.topic: part.topic_id for part in row.ranges})",
            "losses = ()",
        ),
        "a retry starts at the target's position": Check(
            "database", sink, "min(max(part.start, position), part.end)", "part.start"
        ),
        "a result stands in its own assignment only": Check(
            "files", restart, "if row.assignment != run.assignment or row.config_version", "if row.config_version"
        ),
        "a failed task runs again": Check(
            "files", restart, "return row.state is not IntervalState.FAILED", "return True"
        ),
        "only what is done stands": Check(
            "database", restart, "return result.outcome is TaskOutcome.DONE", "return True"
        ),
        "a commit mark is respected by settle": Check(
            "files",
            ending,
            "if marker is not None and marker.moves is not row.is_backfill and proves_commit(marker, row.ranges):",
            "if False:",
        ),
        "a target's progress is respected by settle": Check("database", ending, "if reached == starts:", "if True:"),
        "a topic's progress is respected by settle": Check(
            "source", settle, "if row.source is None or offsets == row.source.start:", "if True:"
        ),
        # plan: first positions
        "the first positions of an empty topic are kept": Check(
            "files", sink, "if is_fixed or position", "if position", traits={"reset": "latest"}
        ),
        # commit
        "tasks that failed or were lost are not committed": Check(
            "files", committing, "if trouble is not None:", "if False:"
        ),
        "a failed task is not committed": Check(
            "database", committing, "if TaskOutcome.FAILED in outcomes:", "if False:"
        ),
        "an unclear task is not committed": Check(
            "source", committing, "if lost or outcomes & {TaskOutcome.STALE, TaskOutcome.UNCLEAR}:", "if False:"
        ),
        # A driver dies before its job; an abort mark is on its way while the interval runs again, in the same epoch.
        "an abort mark is respected by commit": Check(
            "files",
            committing,
            "if marker.aborted:",
            "if False:",
            plot=(("K2", "crash"), ("K6", "delay"), ("K5", "arrive late")),
        ),
        # backfill
        "a backfill ends at the live position": Check(
            "files", backfill, "min(positions[part], end.stable), end.topic_id)", "end.stable, end.topic_id)", **_AGAIN
        ),
        "a backfill's interval never runs again": Check(
            "files", recovery, "if row.is_backfill:", "if False:", **_AGAIN
        ),
        "a backfill leaves a recreated topic alone": Check(
            "files", backfill, "if recreated is not None:", "if False:", **_AGAIN
        ),
        "an abort mark is respected by a backfill": Check(
            "files", replacing, "if marker.moves or not proves_commit(marker, row.ranges):", "if False:", **_AGAIN
        ),
        "what an earlier configuration has exported again is made once more": Check(
            "files", backfill, "exported.config_version == run.state.config_version and ", "", **_AGAIN
        ),
        # abandon
        "an overtaken request is refused": Check(
            "files", abandon, "        if not has_moved:\n            raise", "        pass"
        ),
        "a request moves the topic": Check(
            "source",
            abandon,
            "    if changes:\n        kept = {key: state",
            "    if False:\n        kept = {key: state",
        ),
        "a request moves the target": Check("database", abandon, "if kept is not None and changes:", "if False:"),
        "a request ends what is unfinished": Check(
            "files", abandon, "    if unfinished is not None:\n", "    if False:\n"
        ),
        "a reset reaches what only the topic knows": Check(
            "source", abandon, "{**topic.offsets, **current}.items()", "(yield from LoadOffsets(run.connector)).items()"
        ),
    }
)
"""What a check is for → the check and its absence."""

UNSEEN: Mapping[str, tuple[ModuleType, str, str]] = MappingProxyType(
    {
        "another assignment is fenced again": (
            source,
            "if run.epoch is None or run.assignment != name:",
            "needs a late second attempt, a new assignment and new data in one run: not met in 1,200 histories",
        ),
        "the row is read again under the epoch": (
            fence,
            "return run.refreshed(state)",
            "met once in about 1,000 histories: tests/plan/test_fence.py",
        ),
        "tasks assigned until the intent are fenced": (
            abandon,
            "    run = run.refreshed((yield from LoadConnector(run.connector)))\n"
            "    if run.state.config_version != version",
            "met once in about 1,000 histories",
        ),
        "a newer epoch in the topic stops a plan": (
            source,
            "if projection.epoch > run.mine:",
            "SQL's epoch is raised before the topic's, each later write asks for it: seen only with a lost database",
        ),
        "an epoch starts above the topic's": (
            fence,
            "        if floor < epoch:\n",
            "after a lost database each driver would fail until its epoch is above: time alone is lost",
        ),
        "an epoch starts above the target's": (
            fence,
            "        if not newer.epoch:\n",
            "after a lost database each driver would fail until its epoch is above: time alone is lost",
        ),
        "a request starts above the target's epoch": (
            abandon,
            "if not newer.epoch:",
            "only where the database was lost and an operator comes before any plan",
        ),
        "a marker ends an interval": (
            sink,
            "plan = None if is_over else",
            "SQL refuses to restart an interval that is committed or abandoned: tests/store/test_intervals.py",
        ),
        "the caps of a connector hold": (
            interval,
            "check_tasks_max(run.connector, assignment, run.settings)",
            "the simulated connector assigns what it may: tests/plan/test_assignment.py",
        ),
        "nothing to do is no interval": (
            source,
            "if not assignment.configs or (upper is not None and is_reached(upper, offsets)):",
            "an empty interval costs time and harms nothing: tests/plan/test_source.py",
        ),
        "a position behind the end is noticed": (
            bounds,
            "if position > ends.latest:",
            "the simulated topic never loses its end (an unclean election): tests/plan/test_bounds.py",
        ),
        "results of another configuration do not stand": (
            restart,
            "row.config_version != run.state.config_version:",
            "simulated tasks do the same under any configuration: tests/plan/test_sink.py",
        ),
        "a failed interval stays when its connector is paused": (
            settle,
            "if row is None or row.state is IntervalState.FAILED:",
            "only the status differs: tests/herder",
        ),
        "an unclear act of an operator is repeated": (
            abandon,
            "for _ in range(_TRIES - 1):",
            "without, the operator is told an error and asks again",
        ),
        "a backfill lets a live interval be finished first": (
            backfill,
            "if not unfinished.is_backfill:",
            "SQL refuses an interval beside an unfinished one: tests/recovery/test_backfill.py",
        ),
        "a backfill lets a live run follow a target that is ahead": (
            backfill,
            "if marker is not None:",
            "only where the metadata were restored: tests/recovery/test_backfill.py",
        ),
        "a consumer group is forgotten": (
            abandon,
            "    if is_reset:\n",
            "lag tools alone read it: a reset counts as work done, and the group is adopted before that only",
        ),
    }
)
"""What a check is for → where it stands, and why its absence cannot be seen here, or too seldom for a test."""
