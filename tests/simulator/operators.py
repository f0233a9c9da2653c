"""What acts beside the runs: operators, the sweeper, records that arrive."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from connect_core.errors import ConnectError, NotFoundError, StaleEpochError
from connect_core.interval.sink_positions import sink_offsets
from connect_core.interval.values import TargetState
from connect_core.plan.abandon import OffsetRequest, abandon
from tests.simulator.history import FILES, OFFSETS_TOPIC, PARTS, PATH, History
from tests.simulator.processes import Process, Running, performing
from tests.simulator.targets import acted
from tests.simulator.truth import Violation

if TYPE_CHECKING:
    from tests.simulator.schedule import Schedule

__all__ = ["arriving", "operator", "sweeper"]


def operator(world: Schedule, act: str) -> Running:
    """Do through the herder what a person may ask for."""
    history: History = world.history
    process: Process = world.current
    if act not in ("pause", "restart", "tasks", "configure", "move"):
        yield from _rewriting(world, history, process, act)
        return None
    for _ in range(3 if act == "tasks" else 1):
        fault = yield "K10"
        if fault == "delay":
            world.delayed.append(lambda: _ask(history, act))
        elif fault != "lost request":
            _ask(history, act)
    return None


def _ask(history: History, act: str) -> None:
    if act == "pause":
        is_paused = history.sql.state.target_state is TargetState.PAUSED
        history.sql.set_target_state(TargetState.STARTED if is_paused else TargetState.PAUSED)
    elif act == "restart":
        history.sql.ask_restart(0)
    elif act == "configure":
        history.sql.configure()
    elif act == "move":
        history.sql.configure(_moved(history.kind, history.sql.state.config))
    else:
        history.tasks_max = 3 - history.tasks_max


def _moved(kind: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration with another target, or offsets topic, of two; the other way round the next time."""
    key, other = (OFFSETS_TOPIC, "other-offsets") if kind == "source" else (PATH, "elsewhere")
    return {name: value for name, value in config.items() if name != key} if key in config else {**config, key: other}


def _rewriting(world: Schedule, history: History, process: Process, act: str) -> Running:
    wanted = _wanted_offsets(history, act)
    fault = yield "K10"
    if fault == "delay":
        world.delayed.append(lambda: history.sql.set_target_state(TargetState.STOPPED))
    elif fault != "lost request":
        history.sql.set_target_state(TargetState.STOPPED)
    if fault is not None:
        return
    try:
        run = history.run("operator")
        yield from performing(history, process, abandon(run, OffsetRequest(wanted)), world.delayed)
        _acknowledge(history, process, wanted)
    except ConnectError as error:
        world.note(f"{process.name}: {type(error).__name__}: {error}")
        if act != "delete" or isinstance(error, StaleEpochError | NotFoundError):
            history.sql.set_target_state(TargetState.STARTED)
            return
        # Its systems are broken: it is ended in SQL alone.
        with suppress(ConnectError):
            history.sql.end_unasked()
    if act.startswith("delete") and history.sql.state.target_state is TargetState.STOPPED and not history.sql.deleted:
        history.sql.delete(forget=act == "delete all")
        if (yield "K10") is not None:
            return
        history.sql.create()
    history.sql.set_target_state(TargetState.STARTED)


def _acknowledge(history: History, process: Process, wanted: Any) -> None:
    """Check what an operator is told: the request is carried out, all of it."""
    if wanted or process.has_moved:
        history.truth.acknowledge(process.epoch)
    if wanted is None and history.sql.state.epoch == process.epoch and history.truth.position:
        raise Violation(f"I11 a reset was acknowledged, and {dict(history.truth.position)} stand")


def _wanted_offsets(history: History, act: str) -> dict[str, Any] | None:
    if act in ("reset", "delete all"):
        return None
    if act == "delete":
        return {}
    if history.kind == "source":
        return {file: {"at": 1} for file in (FILES if act == "alter all" else FILES[:1])}
    parts = PARTS if act == "alter all" else PARTS[:1]
    return dict(sink_offsets({part: max(1, history.earliest[part]) for part in parts}))


def sweeper(world: Schedule, _: str) -> Running:
    """Housekeeping: staged files of finished intervals."""
    history: History = world.history
    for _turn in range(2):
        if (yield "K8") is not None:
            continue
        row = history.sql.unfinished()
        if (yield "K8") is not None:
            continue
        history.actor = world.current
        with suppress(ConnectError):
            yield from acted(history.home().sweep([] if row is None else [row.key]))
    return None


def arriving(world: Schedule, _: str) -> Running:
    """Let more records arrive."""
    yield "K10"
    world.history.surroundings.arrive()
