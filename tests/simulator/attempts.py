"""One attempt of one task, of a source and of each kind of sink."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from connect_core.api.sink import PartitionRange, Staged
from connect_core.errors import ConnectError, DataLossError, RetriableError, StaleEpochError, UnclearOutcomeError
from connect_core.interval.values import ConnectorType, Counts, TaskError, TaskOutcome, TaskPlan, TaskResult
from connect_core.kafka.marker_records import MarkerRecord, MarkerStamp
from connect_core.kafka.markers import check_start
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter
from connect_core.task.tolerance import class_name
from tests.simulator.broker import DATA, OFFSETS
from tests.simulator.history import FILES, OFFSETS_TOPIC, History, record
from tests.simulator.metadata import NAME
from tests.simulator.processes import Running
from tests.simulator.targets import answered
from tests.simulator.truth import Where

if TYPE_CHECKING:
    from tests.simulator.schedule import Schedule

__all__ = ["task_attempt"]

_TRIES = 2
"""How often an attempt tries what may pass."""


def task_attempt(world: Schedule, plan: TaskPlan) -> Running:
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


def source_attempt(world: Schedule, history: History, plan: TaskPlan) -> Running:
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


def sink_attempt(world: Schedule, history: History, plan: TaskPlan) -> Running:
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
