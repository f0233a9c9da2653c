"""Connectors: one permanent row per name; deletion keeps its epoch and sequence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, insert, select, type_coerce, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import IntegrityError

from connect_core.errors import AlreadyExistsError, NotFoundError, OvertakenError, StaleEpochError
from connect_core.interval.effects import DELETED, RecordAssignment
from connect_core.interval.runs import RunIdentity
from connect_core.interval.values import ConnectorState, ConnectorType, IntervalState, TargetState
from connect_core.store import configs, dag_states, origins, restarts, topics
from connect_core.store.clock import now
from connect_core.store.fatal_failures import fatal_failure_of
from connect_core.store.models import Connector, Interval, Offset
from connect_core.store.rows import connector_state, from_start

__all__ = [
    "Halt",
    "NewConfig",
    "clear_failure",
    "create",
    "delete",
    "find",
    "get",
    "halt",
    "list_names",
    "list_task_configs",
    "lock",
    "offsets_topics",
    "own",
    "record_assignment",
    "record_failure",
    "replace_config",
    "set_target_state",
    "target_states",
    "undo_halt",
]

_OFFSETS_TOPIC = "offsets.storage.topic"


@dataclass(frozen=True, slots=True)
class NewConfig:
    """A configuration as it is stored: secrets are references or ciphertext."""

    type: ConnectorType
    config: Mapping[str, str]
    plugin_version: str | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Halt:
    """A stop that can be undone: the target state before it, and the time of the change."""

    before: TargetState
    at: datetime


def create(connection: Connection, name: str, new: NewConfig, target: TargetState) -> None:
    """Create a connector; under the name of a deleted one it keeps the offsets, with a higher epoch and incarnation.

    Raises AlreadyExistsError.
    """
    old = connection.execute(
        select(Connector.__table__).where(Connector.name == name).with_for_update(key_share=True)
    ).one_or_none()
    if old is not None and old.deleted_at is None:
        raise AlreadyExistsError(f"Connector {name} already exists")
    version = 1 if old is None else old.config_version + 1
    fresh: dict[str, Any] = {
        "type": new.type,
        "plugin_version": new.plugin_version,
        "config": dict(new.config),
        "config_version": version,
        "target_state": target,
        "created_at": now(),
        "updated_at": now(),
    }
    if old is None:
        _insert(connection, name, fresh)
    else:
        # A driver of the earlier incarnation must not continue: it is fenced by the higher epoch.
        if (old.type, new.type) != (ConnectorType.SINK, ConnectorType.SINK):
            # A sink's is left: only its target knows whether it was committed, and the first plan asks it.
            _end_unfinished(connection, name)
        lives = {"incarnation": old.incarnation + 1, "epoch": old.epoch + 1, "deleted_at": None}
        connection.execute(update(Connector).where(Connector.name == name).values(**fresh, **_IDLE, **lives))
    configs.add(connection, name, version, new.config, new.actor)


def _end_unfinished(connection: Connection, name: str) -> None:
    ended = {"state": IntervalState.ABANDONED, "reason": DELETED, "ended_at": now()}
    mine = (Interval.connector == name) & Interval.state.not_in((IntervalState.COMMITTED, IntervalState.ABANDONED))
    abandoned = connection.execute(update(Interval).where(mine).values(**ended)).rowcount
    total = Connector.abandoned_intervals + abandoned
    connection.execute(update(Connector).where(Connector.name == name).values(abandoned_intervals=total))


_NO_TASKS: dict[str, Any] = {"task_configs": None, "task_count": None}
_IDLE: dict[str, Any] = dict.fromkeys(
    ("holder", "lease_until", "task_configs", "task_count", "planned_version", "planned_at", "failure", "worker")
)


def _insert(connection: Connection, name: str, fresh: Mapping[str, Any]) -> None:
    zero = {"incarnation": 1, "epoch": 0, "sequence": 0, "tasks_ever": 0, "columns": {}, "topic_ids": {}}
    try:
        connection.execute(insert(Connector).values(name=name, **fresh, **zero))
    except IntegrityError as error:
        raise AlreadyExistsError(f"Connector {name} already exists") from error


def delete(connection: Connection, name: str, *, forget_offsets: bool = False) -> None:
    """Delete a connector; a run still under way may commit what it has read.

    Offsets are kept for a connector of the same name, unless ``forget_offsets``. Raises NotFoundError.
    """
    # Before the connector's own row, in the order in which the mirror takes its locks.
    dag_states.forget(connection, name)
    row = lock(connection, name)
    gone: dict[str, Any] = {"deleted_at": now(), "updated_at": now(), "config": {}, **_NO_TASKS}
    if forget_offsets:
        connection.execute(sql_delete(Offset).where(Offset.connector == name))
        _end_unfinished(connection, name)
        # A successor reads the whole offsets topic: its content is valid, even that of a run that came in between.
        # An offsets topic that was used before this one still contains offsets that are no longer valid.
        place = from_start(row.offsets_position)
        gone |= {"epoch": row.epoch + 1, "columns": {}, "topic_ids": {}, "offsets_position": place}
    connection.execute(update(Connector).where(Connector.name == name).values(**gone))
    topics.reset(connection, name)
    restarts.forget(connection, name)
    origins.forget(connection, name)


def find(connection: Connection, name: str) -> ConnectorState | None:
    """Return the connector, or ``None`` if there is none with this name."""
    row = connection.execute(_living().where(Connector.name == name)).one_or_none()
    return None if row is None else connector_state(row, fatal_failure_of(connection, row))


def get(connection: Connection, name: str) -> ConnectorState:
    """Return the connector. Raises NotFoundError."""
    state = find(connection, name)
    if state is None:
        raise _not_found(name)
    return state


def list_names(connection: Connection, kind: ConnectorType | None = None) -> list[str]:
    """Return the names of all connectors, or of those of a kind, sorted."""
    wanted = select(Connector.name).where(Connector.deleted_at.is_(None))
    return sorted(connection.scalars(wanted if kind is None else wanted.where(Connector.type == kind)))


def target_states(connection: Connection, names: Collection[str]) -> dict[str, TargetState]:
    """Return the target states of the connectors that exist, by one statement."""
    rows = connection.execute(
        select(Connector.name, Connector.target_state).where(Connector.name.in_(names), Connector.deleted_at.is_(None))
    )
    return {row.name: row.target_state for row in rows}


def lock(connection: Connection, name: str) -> Any:
    """Return the connector's row, locked until the transaction ends. Raises NotFoundError."""
    row = connection.execute(_living().where(Connector.name == name).with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise _not_found(name)
    return row


def own(connection: Connection, name: str, epoch: int) -> Any:
    """Return the connector's row, locked, if ``epoch`` is still its epoch; deleted or not.

    Raises StaleEpochError.
    """
    mine = (
        select(Connector.__table__)
        .where(Connector.name == name, Connector.epoch == epoch)
        .with_for_update(key_share=True)
    )
    row = connection.execute(mine).one_or_none()
    if row is None:
        newer = connection.scalar(select(Connector.epoch).where(Connector.name == name))
        error = StaleEpochError(f"Epoch {epoch} of connector {name} was replaced by epoch {newer}: this run stops")
        error.epoch = newer or 0
        raise error
    return row


def replace_config(connection: Connection, stored: ConnectorState, new: NewConfig) -> int:
    """Store a new configuration in place of the one that was read, and return its version.

    Raises NotFoundError, and OvertakenError if another request has replaced it meanwhile.
    """
    name = stored.name
    row = lock(connection, name)
    if (row.incarnation, row.config_version) != (stored.incarnation, stored.config_version):
        raise OvertakenError(f"The configuration of connector {name} was changed by another request: try again")
    version: int = row.config_version + 1
    values = {"type": new.type, "plugin_version": new.plugin_version, "config": dict(new.config)}
    connection.execute(
        update(Connector).where(Connector.name == name).values(**values, config_version=version, updated_at=now())
    )
    configs.add(connection, name, version, new.config, new.actor)
    return version


def set_target_state(connection: Connection, name: str, target: TargetState) -> TargetState:
    """Store the target state and return the previous one. Raises NotFoundError.

    Stopping removes the tasks and their failures: a later start assigns them again.
    """
    before: TargetState = lock(connection, name).target_state
    values: dict[str, Any] = {"target_state": target, "updated_at": now()}
    if target is TargetState.STOPPED:
        values |= {**_NO_TASKS, "failure": None}
        restarts.forget(connection, name)
        restarts.unblock(connection, name)
    connection.execute(update(Connector).where(Connector.name == name).values(**values))
    return before


def halt(connection: Connection, name: str) -> Halt | None:
    """Stop a connector for the time being → what undoes that; ``None`` if it is stopped. Raises NotFoundError."""
    if lock(connection, name).target_state is TargetState.STOPPED:
        return None
    before = set_target_state(connection, name, TargetState.STOPPED)
    return Halt(before, lock(connection, name).updated_at)


def undo_halt(connection: Connection, name: str, stop: Halt) -> bool:
    """Give a halted connector its target state back → false if another request has changed it meanwhile.

    Raises NotFoundError.
    """
    if lock(connection, name).updated_at != stop.at:
        return False
    set_target_state(connection, name, stop.before)
    return True


def record_assignment(connection: Connection, effect: RecordAssignment, run: RunIdentity) -> None:
    """Store an assignment while its holder has the connector; clears failures and begins requested restarts.

    Raises StaleEpochError.
    """
    values = {
        "task_configs": [dict(one) for one in effect.configs],
        "task_count": len(effect.configs),
        "planned_version": effect.config_version or Connector.config_version,
        "planned_at": now(),
        "failure": None,
        "worker": run.worker,
    }
    name = effect.connector
    mine = (Connector.name == name) & (Connector.holder == effect.holder) & Connector.deleted_at.is_(None)
    # A plan overtaken by a stop must not make tasks appear again.
    wanted = Connector.target_state != TargetState.STOPPED
    if connection.execute(update(Connector).where(mine & wanted).values(**values)).rowcount == 0:
        raise StaleEpochError(f"Connector {name} is no longer held by {effect.holder}, or was stopped: this run stops")
    restarts.begin(connection, name)


def offsets_topics(connection: Connection) -> set[str]:
    """Return the offsets topics of connectors: those that SQL follows, and those named in configurations."""
    followed = connection.scalars(select(Connector.offsets_position).where(Connector.offsets_position.is_not(None)))
    is_named = type_coerce(Connector.config, Text).like(f"%{_OFFSETS_TOPIC}%")
    named = connection.scalars(select(Connector.config).where(Connector.deleted_at.is_(None), is_named))
    return {*(one["topic"] for one in followed), *(one.get(_OFFSETS_TOPIC, "") for one in named)} - {""}


def list_task_configs(connection: Connection, name: str) -> list[dict[str, str]]:
    """Return the task configs of the last plan; none before it, or while stopped. Raises NotFoundError."""
    row = connection.execute(_living().where(Connector.name == name)).one_or_none()
    if row is None:
        raise _not_found(name)
    return list(row.task_configs or ())


def clear_failure(connection: Connection, name: str) -> None:
    """Clear the failure of the connector itself."""
    connection.execute(update(Connector).where(Connector.name == name).values(failure=None))


def record_failure(connection: Connection, name: str, holder: str, failure: Mapping[str, Any]) -> bool:
    """Store the failure of the connector itself → false if ``holder`` no longer has it.

    ``failure``: trace, is_retriable and is_retried, if a try follows by itself.
    """
    version = select(Connector.config_version).where(Connector.name == name).scalar_subquery()
    known = {**failure, "config_version": connection.scalar(select(version))}
    mine = update(Connector).where(Connector.name == name, Connector.holder == holder)
    return connection.execute(mine.values(failure=known)).rowcount > 0


def _living() -> Any:
    return select(Connector.__table__).where(Connector.deleted_at.is_(None))


def _not_found(name: str) -> NotFoundError:
    return NotFoundError(f"Connector {name} not found")
