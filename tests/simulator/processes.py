"""The processes of a history: drivers, task attempts, operators, the sweeper. Every ``yield`` names the next point."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from connect_core.api.sink import PartitionRange, Staged
from connect_core.commit.interval import Committed, commit_interval
from connect_core.errors import (
    ConnectError,
    DataLossError,
    NotFoundError,
    RetriableError,
    StaleEpochError,
    UnclearOutcomeError,
)
from connect_core.interval import effects as fx
from connect_core.interval.failpoints import POINT_OF
from connect_core.interval.sink_positions import sink_offsets
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalRow,
    IntervalState,
    Plan,
    TargetState,
    TaskError,
    TaskOutcome,
    TaskPlan,
    TaskResult,
)
from connect_core.kafka.marker_records import MarkerRecord, MarkerStamp
from connect_core.kafka.markers import check_start
from connect_core.kafka.writer import OffsetsTarget, TransactionalWriter
from connect_core.plan.abandon import OffsetRequest, abandon
from connect_core.plan.interval import Planned, plan_interval
from connect_core.plan.run import Run, Steps, begin_run, end_run
from connect_core.task.tolerance import class_name
from tests.simulator.backfills import check_finished, hour
from tests.simulator.broker import DATA, OFFSETS
from tests.simulator.history import FILES, OFFSETS_TOPIC, PARTS, PATH, History, record
from tests.simulator.metadata import NAME
from tests.simulator.targets import acted, answered
from tests.simulator.truth import Violation, Where

__all__ = [
    "Fault",
    "Process",
    "arriving",
    "backfiller",
    "check_end",
    "driver",
    "has_drained",
    "operator",
    "sweeper",
    "task_attempt",
]

Fault = str | None
Running = Generator[Any, Fault, Any]
"""Yields the point before its next act, or what it waits for; is sent the fault of that act."""

_READS = (fx.LoadConnector, fx.LoadOffsets, fx.LoadUnfinished, fx.LoadResults, fx.LoadOffsetStates, fx.TaskConfigs,
          fx.LatestSourceOffsets, fx.ReadGroupOffsets, fx.ReadOffsetsTopic, fx.ReadPartitionEnds,
          fx.LoadConfig, fx.CompareTarget, fx.ReadLastInterval, fx.LoadTimeBefore, fx.ReadTimeBounds,
          fx.ReadExistingExports)  # fmt: skip
_COMFORTS = (fx.CommitGroupOffsets, fx.ForgetGroup)
_WRITES = (
    *(kind for kind in POINT_OF if kind not in (fx.CommitTarget, fx.ReplaceTarget, fx.PublishTarget, fx.WriteOffsets)),
    *(fx.RaiseEpoch, fx.RaiseIncarnation, fx.RecordAssignment, fx.RecordLosses, fx.RecordFuture, fx.RepairOffsets),
)
"""What may be carried out long after whoever asked has given up."""


_TRIES = 2
"""How often an attempt tries what may pass."""


class Process:
    """One process: alive, paused and later revived as a zombie, or dead."""

    __slots__ = (
        "__weakref__",
        *(
            "aim",
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
        self.aim: TargetState | None = None
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
    if isinstance(effect, _COMFORTS):
        return _comfort(handler, effect, fault, delayed)
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


def _comfort(handler: Callable[[Any], Any], effect: Any, fault: Fault, delayed: list[Callable[[], Any]]) -> None:
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
            process.aim = process.aim or answer.target_state
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
    if process.aim is not TargetState.STARTED:
        raise Violation(f"I9 interval {row.key.sequence} begins, though the connector was {process.aim}")
    if row.config_version != process.assigned:
        raise Violation(
            f"I6 interval {row.key.sequence} has configuration {row.config_version}, not {process.assigned}"
        )


def driver(world: Any, name: str) -> Running:
    """Drive a run as ``spark.job.main`` does, unless the watcher leaves the connector alone."""
    if not (world.history.is_held_back and world.history.sql.is_held):
        yield from _drive(world, name)


def backfiller(world: Any, number: int) -> Running:
    """Export an hour again, as a run of Airflow's backfill does."""
    yield from _drive(world, world.current.name, number)


def _note_end(world: Any, process: Process, planned: Planned) -> None:
    """Note how a backfill's run ends, and look at what it says that it has done."""
    if planned.refusal is not None:
        world.note(f"{process.name}: refused: {planned.refusal}")
    elif planned.run.since is not None:
        world.note(f"{process.name}: all since {planned.run.since} stands")
        history: History = world.history
        check_finished(history.home(process.config), planned.run, process.positions, process.ends)


def _drive(world: Any, name: str, number: int | None = None) -> Running:
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
            process.aim = None
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


def _interval(world: Any, process: Process, run: Run, plan: Plan) -> Running:
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


def _ended(world: Any, process: Process, run: Run) -> Running:
    try:
        yield from performing(world.history, process, end_run(run), world.delayed)
    except ConnectError:
        return


def task_attempt(world: Any, plan: TaskPlan) -> Running:
    """Run one attempt of one task → its result."""
    history: History = world.history
    body = source_attempt if plan.type is ConnectorType.SOURCE else sink_attempt
    try:
        return (yield from body(world, history, plan))
    except StaleEpochError:
        return TaskResult(plan.task, TaskOutcome.STALE)
    except UnclearOutcomeError:
        return TaskResult(plan.task, TaskOutcome.UNCLEAR)
    except ConnectError as error:
        trouble = TaskError(class_name(error), str(error), "", isinstance(error, RetriableError))
        return TaskResult(plan.task, TaskOutcome.FAILED, error=trouble)


def source_attempt(world: Any, history: History, plan: TaskPlan) -> Running:
    """Transactions of records and then offsets, by the production writer and start check."""
    assert plan.source is not None
    stamp = MarkerStamp(plan.key.epoch, plan.key.incarnation, plan.key.sequence, plan.task, plan.attempt_id)
    topic = history.offsets_topic(plan.connector_config.get(OFFSETS_TOPIC, OFFSETS))
    target = OffsetsTarget(topic.name, NAME, stamp, plan.source.start)
    broker: Any = history.broker
    files = [file for at, file in enumerate(FILES) if at % world.assigned(plan) == plan.task]
    with TransactionalWriter(broker, plan.transactional_id, target) as writer:
        answered((yield "K3"))
        writer.init()
        for _ in range(4):
            answered((yield "K3"))
            try:
                view = topic.read(NAME, plan.source.position)
                break
            except RetriableError:
                continue
        else:
            raise RetriableError("the offsets topic is held back")
        check_start(view, stamp)
        position = {file: plan.source.start.get(file, {"at": 0})["at"] for file in files}
        for _ in range(2):
            ends = {file: world.bound(plan, file) for file in files}
            moved = {file: min(position[file] + 1, ends[file]) for file in files if position[file] < ends[file]}
            if not moved:
                break
            answered((yield "K4"))
            produce(writer, plan, position, moved)
            answered((yield "K5"))
            broker.fault = yield "K6"
            offsets = [(json.loads(file), {"at": at}) for file, at in moved.items()]
            try:
                writer.commit(offsets, {file: {"at": str(at)} for file, at in moved.items()})
            finally:
                broker.fault = None
            position.update(moved)
    return TaskResult(plan.task, TaskOutcome.DONE, source_offsets={file: {"at": at} for file, at in position.items()})


def produce(writer: TransactionalWriter, plan: TaskPlan, position: dict[str, int], moved: dict[str, int]) -> None:
    """Add records to the open transaction."""
    rows = [MarkerRecord(b"", record(file, position[file], at, plan.key.epoch), []) for file, at in moved.items()]
    writer.produce_records(DATA, rows)


def sink_attempt(world: Any, history: History, plan: TaskPlan) -> Running:
    """Read the ranges, then write, stage, or put, as the kind of target does."""
    answered((yield "K3"))
    for part in plan.ranges:
        yield from _read(history, part)
    staged: tuple[Staged, ...] = ()
    if history.kind == "files":
        staged = yield from history.home(plan.connector_config).stage(plan)
    _check_topic(history, plan)
    if history.kind == "database":
        staged = yield from _write_rows(history, plan)
    else:
        yield from _put(history, plan)
    count = Counts(sum(part.end - part.start for part in plan.ranges))
    positions = {part.topic_partition: part.end for part in plan.ranges}
    return TaskResult(plan.task, TaskOutcome.DONE, counts=count, positions=positions, staged=staged)


def _read(history: History, part: PartitionRange) -> Running:
    place = part.topic_partition
    if part.start < part.end and part.start < history.earliest[place]:
        raise DataLossError(f"{place} begins at {history.earliest[place]}")
    answered((yield "K4"))


def _put(history: History, plan: TaskPlan) -> Running:
    fault = yield ("K5" if history.kind == "files" else "K6")
    if fault == "lost request":
        raise RetriableError("the target does not answer")
    _check_topic(history, plan)
    if history.kind == "plain":
        for part in plan.ranges:
            where = Where(part.topic_id)
            history.deliver(part.topic_partition, part.start, part.end, plan.key.epoch, where)
    if fault is not None:
        raise UnclearOutcomeError("the answer was lost")


def _write_rows(history: History, plan: TaskPlan) -> Running:
    """Commit rows and positions; what may pass is tried again within the attempt, as the engine does."""
    for _ in range(_TRIES):
        fault = yield "K6"
        _check_topic(history, plan)
        try:
            history.database.write(plan, fault)
        except RetriableError as error:
            trouble = error
            continue
        return tuple(Staged(part.topic, part.partition, part.start, part.end, {}) for part in plan.ranges)
    raise trouble


def _check_topic(history: History, plan: TaskPlan) -> None:
    """The reader's check after its last read: the topic is still the one that was planned."""
    for part in plan.ranges:
        if part.topic_id != f"id-{history.topic_id}":
            raise DataLossError(f"topic {part.topic} was deleted and created again")


def operator(world: Any, act: str) -> Running:
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
        history.sql.aim(TargetState.STARTED if is_paused else TargetState.PAUSED)
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


def _rewriting(world: Any, history: History, process: Process, act: str) -> Running:
    wanted = _wish(history, act)
    fault = yield "K10"
    if fault == "delay":
        world.delayed.append(lambda: history.sql.aim(TargetState.STOPPED))
    elif fault != "lost request":
        history.sql.aim(TargetState.STOPPED)
    if fault is not None:
        return
    try:
        run = history.run("operator")
        yield from performing(history, process, abandon(run, OffsetRequest(wanted)), world.delayed)
        _acknowledge(history, process, wanted)
    except ConnectError as error:
        world.note(f"{process.name}: {type(error).__name__}: {error}")
        if act != "delete" or isinstance(error, StaleEpochError | NotFoundError):
            history.sql.aim(TargetState.STARTED)
            return
        # Its systems are broken: it is ended in SQL alone.
        with suppress(ConnectError):
            history.sql.end_unasked()
    if act.startswith("delete") and history.sql.state.target_state is TargetState.STOPPED and not history.sql.deleted:
        history.sql.delete(forget=act == "delete all")
        if (yield "K10") is not None:
            return
        history.sql.create()
    history.sql.aim(TargetState.STARTED)


def _acknowledge(history: History, process: Process, wanted: Any) -> None:
    """Check what an operator is told: the wish is carried out, all of it."""
    if wanted or process.has_moved:
        history.truth.acknowledge(process.epoch)
    if wanted is None and history.sql.state.epoch == process.epoch and history.truth.position:
        raise Violation(f"I11 a reset was acknowledged, and {dict(history.truth.position)} stand")


def _wish(history: History, act: str) -> dict[str, Any] | None:
    if act in ("reset", "delete all"):
        return None
    if act == "delete":
        return {}
    if history.kind == "source":
        return {file: {"at": 1} for file in (FILES if act == "alter all" else FILES[:1])}
    parts = PARTS if act == "alter all" else PARTS[:1]
    return dict(sink_offsets({part: max(1, history.earliest[part]) for part in parts}))


def sweeper(world: Any, _: str) -> Running:
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


def arriving(world: Any, _: str) -> Running:
    """Let more records arrive."""
    yield "K10"
    world.history.arrive()


def lagging(history: History) -> Iterator[str]:
    """Name the partitions that are not read to their end."""
    places: Any = FILES if history.kind == "source" else PARTS
    for place in places:
        reached, end = history.truth.position.get(place), history.available[place]
        begins = 0 if history.kind == "source" or history.is_begun else max(history.truth.first[place])
        if (reached if reached is not None else begins) < end and history.earliest.get(place, 0) < end:
            yield f"{place} is at {reached} of {end}"


def has_drained(history: History) -> bool:
    """Whether everything is read and no interval is open."""
    row = history.sql.unfinished()
    return (row is None or row.state is IntervalState.FAILED) and not any(lagging(history))


def check_end(history: History) -> None:
    """I1 to I8 and I10 in full, after all faults have ended and drivers have drained."""
    for lag in lagging(history):
        raise Violation(f"I8 {lag} after all faults have ended")
    row = history.sql.unfinished()
    if row is not None and row.state is not IntervalState.FAILED:
        raise Violation(f"I10 interval {row.key.sequence} is left unfinished")
    if history.broker.open:
        raise Violation(f"I10 a transaction is left open: {list(history.broker.open)}")
    for home in history.homes.values():
        home.check_end()
    history.truth.verify()
