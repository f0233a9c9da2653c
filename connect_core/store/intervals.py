"""Intervals: inserted before any read, restarted, committed or abandoned; each act requires the connector's epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, case, insert, select, update

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    InsertInterval,
    RecordAttempt,
    RecordFuture,
    RecordLosses,
    RepairOffsets,
    RestartInterval,
)
from connect_core.interval.runs import RunIdentity
from connect_core.interval.sink_positions import sink_offsets
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalRow,
    IntervalState,
    LostRecords,
    TargetState,
    job_tag,
)
from connect_core.store import attempts, audit, connectors, offsets, record_errors, topics
from connect_core.store.clock import later, now
from connect_core.store.models import Connector, Interval
from connect_core.store.rows import counts_json, interval_row, position_json, ranges_json, source_json

__all__ = [
    "abandon",
    "beat",
    "commit",
    "end_unfinished",
    "insert_next",
    "load_unfinished",
    "record_attempt",
    "record_future",
    "record_losses",
    "repair",
    "restart",
    "schedule_retry",
]

_FINAL = (IntervalState.COMMITTED, IntervalState.ABANDONED)


def load_unfinished(connection: Connection, connector: str) -> IntervalRow | None:
    """Return the connector's only interval that is not final, of any incarnation, or ``None``."""
    query = select(Interval.__table__).where(Interval.connector == connector, Interval.state.not_in(_FINAL))
    row = connection.execute(query).one_or_none()
    return None if row is None else interval_row(row)


def insert_next(connection: Connection, effect: InsertInterval, run: RunIdentity) -> None:
    """Insert the next interval if its epoch is the connector's, and the connector's target state is STARTED.

    Offsets move only under the connector's epoch: if it is unchanged, the
    interval's start is still valid. Raises StaleEpochError.
    """
    row, key = effect.row, effect.row.key
    owner = connectors.own(connection, key.connector, key.epoch)
    if owner.deleted_at is not None or owner.incarnation != key.incarnation:
        raise StaleEpochError(f"Connector {key.connector} was deleted: this run stops")
    if owner.target_state is not TargetState.STARTED:
        # Otherwise data would move after the status was shown as PAUSED.
        raise StaleEpochError(f"Connector {key.connector} is {owner.target_state.value}: this run stops")
    if key.sequence != owner.sequence + 1 or load_unfinished(connection, key.connector) is not None:
        raise StaleEpochError(
            f"Interval {key.sequence} of connector {key.connector} cannot be inserted: the last one is "
            f"{owner.sequence}, or is not finished. Plan again."
        )
    begun = {"attempts": max(row.attempts, 1), "planned_at": now(), "started_at": now(), "heartbeat_at": now()}
    connection.execute(insert(Interval).values(**_plan_values(row), **_run_values(key, run), **begun))
    # A topic recreated since the live export read it is a different one: a backfill must not record its id.
    ids = {one.topic: one.topic_id for one in row.ranges if one.topic_id and not row.is_backfill}
    connection.execute(
        update(Connector)
        .where(Connector.name == key.connector)
        .values(
            sequence=key.sequence,
            assignment=row.assignment,
            tasks_ever=max(owner.tasks_ever, row.tasks),
            topic_ids={**owner.topic_ids, **ids},
            planned_at=now(),
        )
    )
    attempts.begin(connection, key, row.tasks)


def record_losses(connection: Connection, effect: RecordLosses) -> None:
    """Record in the audit which records can no longer be read. Raises StaleEpochError."""
    connectors.own(connection, effect.connector, effect.epoch)
    _record_losses(connection, effect.connector, effect.losses)


def _record_losses(connection: Connection, connector: str, losses: Iterable[LostRecords]) -> None:
    for loss in losses:
        lost = {"partition": str(loss.partition), "from": loss.start, "to": loss.end, "reason": loss.reason}
        audit.record(connection, audit.Act("connect", "skip lost records", connector, after=lost))


def record_future(connection: Connection, effect: RecordFuture) -> None:
    """Record in the audit which records with future timestamps are passed over. Raises StaleEpochError."""
    connectors.own(connection, effect.connector, effect.epoch)
    for part, one in effect.found.items():
        passed = {"partition": str(part), "offset": one.offset, "timestamp": one.time}
        audit.record(connection, audit.Act("connect", "pass over future records", effect.connector, after=passed))


def _plan_values(row: IntervalRow) -> dict[str, Any]:
    return {
        "connector": row.key.connector,
        "sequence": row.key.sequence,
        "incarnation": row.key.incarnation,
        "epoch": row.key.epoch,
        "config_version": row.config_version,
        "state": row.state,
        "assignment": row.assignment,
        "tasks": row.tasks,
        "ranges": ranges_json(row.ranges),
        "source": source_json(row.source),
        "bound_time": row.bound_time,
        "since": row.since,
        "counts": counts_json(Counts()),
        "records": 0,
        "moved": 0,
        "tries_left": 0,
    }


def _run_values(key: IntervalKey, run: RunIdentity) -> dict[str, Any]:
    return {"run_id": run.run_id, "worker": run.worker, "job_tag": job_tag(key)}


def restart(connection: Connection, again: RestartInterval, run: RunIdentity) -> IntervalRow:
    """Begin another attempt of an unfinished interval under ``again.epoch``; bounds of ``None`` are unchanged.

    Raises StaleEpochError.
    """
    key = again.key
    owner = connectors.own(connection, key.connector, again.epoch)
    if owner.deleted_at is not None:
        raise StaleEpochError(f"Connector {key.connector} was deleted: this run stops")
    row = _unfinished(connection, key)
    values: dict[str, Any] = {"epoch": again.epoch, "assignment": again.assignment, "tasks": again.tasks}
    # This attempt runs with the configuration from which its plan was made.
    values["config_version"] = owner.planned_version or owner.config_version
    values |= {"state": IntervalState.PLANNED, "attempts": row.attempts + 1, "reason": None}
    values |= {"retry_at": None, "tries_left": 0, "started_at": now(), "heartbeat_at": now()}
    if again.ranges is not None:
        values["ranges"] = ranges_json(again.ranges)
    if again.source is not None:
        values["source"] = source_json(again.source)
    _change(connection, key, values | _run_values(key, run))
    ever = max(owner.tasks_ever, again.tasks)
    owner = update(Connector).where(Connector.name == key.connector)
    connection.execute(owner.values(assignment=again.assignment, tasks_ever=ever))
    attempts.begin(connection, key, again.tasks, again.kept)
    return interval_row(_unfinished(connection, key))


def abandon(connection: Connection, effect: AbandonInterval) -> None:
    """Make an interval ABANDONED; does nothing if it already is. Raises StaleEpochError."""
    key = effect.key
    owner = connectors.own(connection, key.connector, effect.epoch)
    row = _row(connection, key)
    if row.state is IntervalState.ABANDONED:
        return
    _check_unfinished(row, key)
    _record_losses(connection, key.connector, effect.losses)
    end_unfinished(connection, owner, effect.reason)


def end_unfinished(connection: Connection, owner: Any, reason: str, moved: Collection[str] = ()) -> None:
    """Make a connector's unfinished interval ABANDONED; the caller has locked its row ``owner``.

    The starts of a sink's partitions become their positions, so that they are not
    resolved again, unless the partitions are among those ``moved``.
    """
    unfinished = (Interval.connector == owner.name, Interval.state.not_in(_FINAL))
    row = connection.execute(select(Interval.__table__).where(*unfinished)).one_or_none()
    if row is None:
        return
    ended_row = interval_row(row)
    starts = sink_offsets({part.topic_partition: part.start for part in ended_row.ranges})
    reason_of = offsets.Move(owner.name, owner.type, "interval", owner.epoch, row.sequence)
    if owner.type is ConnectorType.SINK and not ended_row.is_backfill:
        offsets.move(connection, reason_of, {key: start for key, start in starts.items() if key not in moved})
    ended = {"state": IntervalState.ABANDONED, "reason": reason, "ended_at": now()}
    connection.execute(update(Interval).where(*unfinished).values(**ended))
    total = Connector.abandoned_intervals + 1
    connection.execute(update(Connector).where(Connector.name == owner.name).values(abandoned_intervals=total))


def record_attempt(connection: Connection, effect: RecordAttempt) -> None:
    """Store the results of an attempt and the interval's progress. Raises StaleEpochError."""
    key, results = effect.key, effect.results
    owner = connectors.own(connection, key.connector, effect.epoch)
    row = _unfinished(connection, key)
    attempts.record(connection, key, results)
    topics.add(connection, key.connector, [topic for result in results for topic in result.topics])
    if owner.type is ConnectorType.SOURCE:
        # What a source's attempt has committed remains valid, whatever the outcome of the attempt.
        record_errors.add(connection, key, results)
    counts = _counts(connection, key, row.moved)
    _change(connection, key, {"state": effect.state, "counts": counts_json(counts), "records": counts.records})


def commit(connection: Connection, done: CommitInterval) -> None:
    """Move offsets, store topics, columns and counts, and make the interval COMMITTED.

    Does nothing for a committed interval. Raises StaleEpochError.
    """
    key = done.key
    owner = connectors.own(connection, key.connector, done.epoch)
    row = _row(connection, key)
    if row.state is IntervalState.COMMITTED:
        return
    _check_unfinished(row, key)
    attempts.record(connection, key, done.results)
    record_errors.add(connection, key, done.results)
    counts = _counts(connection, key, row.moved)
    if row.since is None:
        _move_offsets(connection, done, owner.type)
    topics.add(connection, key.connector, [topic for result in done.results for topic in result.topics])
    ended: dict[str, Any] = {"state": IntervalState.COMMITTED, "ended_at": now(), "heartbeat_at": now(), "reason": None}
    if done.positions is not None:
        # A stop or a cap may have cut it short: set the bounds to what it moved.
        ended["ranges"] = ranges_json(_cut(interval_row(row).ranges, done.positions))
    _change(connection, key, ended | {"counts": counts_json(counts), "records": counts.records})
    values: dict[str, Any] = {
        "committed_at": now(),
        "committed_intervals": Connector.committed_intervals + 1,
        "committed_records": Connector.committed_records + counts.records,
    }
    if done.offsets_position is not None:
        values["offsets_position"] = position_json(done.offsets_position)
    if done.columns is not None:
        values["columns"] = {**owner.columns, **{topic: dict(types) for topic, types in done.columns.items()}}
    connection.execute(update(Connector).where(Connector.name == key.connector).values(**values))


def _cut(ranges: Iterable[PartitionRange], positions: Mapping[TopicPartition, int]) -> list[PartitionRange]:
    return [
        replace(part, end=max(part.start, min(part.end, positions.get(part.topic_partition, part.end))))
        for part in ranges
    ]


def _counts(connection: Connection, key: IntervalKey, moved: int) -> Counts:
    """Return the interval's counts: a driver that died has reported fewer records than its markers contain."""
    counts = attempts.total(connection, key)
    return replace(counts, records=moved or counts.records)


def _move_offsets(connection: Connection, done: CommitInterval, kind: ConnectorType) -> None:
    wanted = {**(done.source_offsets or {}), **sink_offsets(done.positions or {})}
    place = position_json(done.offsets_position)
    reason = offsets.Move(done.key.connector, kind, "interval", done.epoch, done.key.sequence, marker=place)
    offsets.move(connection, reason, wanted)


def repair(connection: Connection, effect: RepairOffsets) -> None:
    """Update the offsets to those of the target or the offsets topic. Raises StaleEpochError.

    Moves by an interval of this epoch are recorded as its own; all others as repairs.
    """
    connector, epoch, projection = effect.connector, effect.epoch, effect.projection
    owner = connectors.own(connection, connector, epoch)
    row = load_unfinished(connection, connector)
    is_running = row is not None and row.key.epoch == epoch
    place = position_json(projection.position)
    moved = projection.moved.get(row.key.sequence, 0) if row is not None else 0
    if row is not None and moved:
        _change(connection, row.key, {"moved": Interval.moved + moved})
    reason = offsets.Move(
        connector, owner.type, "interval" if is_running else "repair", epoch, owner.sequence, marker=place
    )
    offsets.move(connection, reason, projection.offsets)
    # A marker without a state means that there is none any more.
    present = {key: projection.states.get(key) for key, offset in projection.offsets.items() if offset is not None}
    offsets.keep_states(connection, connector, present)
    known: dict[str, Any] = {} if place is None else {"offsets_position": place}
    if effect.topic_ids:
        known["topic_ids"] = {**owner.topic_ids, **effect.topic_ids}
    if known:
        connection.execute(update(Connector).where(Connector.name == connector).values(**known))


def beat(connection: Connection, key: IntervalKey, epoch: int, progress: Iterable[attempts.TaskProgress]) -> bool:
    """Store a heartbeat of the interval's driver and its tasks' progress → false if it no longer has the interval."""
    alive = update(Interval).where(*_is(key), Interval.epoch == epoch, Interval.state.not_in(_FINAL))
    planned = Interval.state == IntervalState.PLANNED
    running = case((planned, IntervalState.RUNNING.value), else_=Interval.state)
    if connection.execute(alive.values(heartbeat_at=now(), state=running)).rowcount == 0:
        return False
    attempts.report_progress(connection, key, progress)
    return True


def schedule_retry(connection: Connection, connector: str, seconds: float, tries_left: int) -> bool:
    """Set when a failed interval is tried again; with tries left its tasks are not shown as FAILED."""
    failed = update(Interval).where(Interval.connector == connector, Interval.state == IntervalState.FAILED)
    return connection.execute(failed.values(retry_at=later(seconds), tries_left=tries_left)).rowcount > 0


def _unfinished(connection: Connection, key: IntervalKey) -> Any:
    row = _row(connection, key)
    _check_unfinished(row, key)
    return row


def _check_unfinished(row: Any, key: IntervalKey) -> None:
    if row.state.is_final:
        raise StaleEpochError(
            f"Interval {key.sequence} of connector {key.connector} is {row.state.value} and can no longer change"
        )


def _row(connection: Connection, key: IntervalKey) -> Any:
    row = connection.execute(select(Interval.__table__).where(*_is(key))).one_or_none()
    if row is None:
        raise StaleEpochError(f"There is no interval {key.sequence} of connector {key.connector}")
    return row


def _change(connection: Connection, key: IntervalKey, values: Mapping[str, Any]) -> None:
    connection.execute(update(Interval).where(*_is(key)).values(**values))


def _is(key: IntervalKey) -> tuple[Any, ...]:
    return (
        Interval.connector == key.connector,
        Interval.sequence == key.sequence,
        Interval.incarnation == key.incarnation,
    )
