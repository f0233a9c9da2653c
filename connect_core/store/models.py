"""The tables of the metadata database."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Boolean, Enum, ForeignKey, Index, Integer, MetaData, String, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.types import FreeText, JsonText, Moment

__all__ = [
    "METADATA",
    "Audit",
    "Connector",
    "ConnectorConfig",
    "DagState",
    "Deployment",
    "Intent",
    "Interval",
    "IntervalTask",
    "Offset",
    "OffsetHistory",
    "Origin",
    "RecordError",
    "Report",
    "Request",
    "Restart",
    "SchedulerSilence",
    "Topic",
    "Waiting",
]

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

UNFINISHED = text("state NOT IN ('COMMITTED', 'ABANDONED')")

_Number = BigInteger().with_variant(Integer(), "sqlite")


def _word(enum: type[Any]) -> Enum:
    return Enum(enum, native_enum=False, length=16, values_callable=lambda members: [one.value for one in members])


class _Table(DeclarativeBase):
    metadata = METADATA
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Moment(),
        dict[str, Any]: JsonText(),
        list[Any]: JsonText(),
        str: FreeText(),
        ConnectorType: _word(ConnectorType),
        TargetState: _word(TargetState),
        IntervalState: _word(IntervalState),
        TaskOutcome: _word(TaskOutcome),
    }


def _named() -> Mapped[str]:
    return mapped_column(FreeText(), ForeignKey("connectors.name"), primary_key=True)


def _of_connector() -> Mapped[str]:
    return mapped_column(FreeText(), ForeignKey("connectors.name"))


class Connector(_Table):
    """One name for ever: delete sets ``deleted_at``, so epoch and sequence never restart."""

    __tablename__ = "connectors"

    name: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[ConnectorType]
    plugin_version: Mapped[str | None]
    config: Mapped[dict[str, Any]]
    config_version: Mapped[int]
    target_state: Mapped[TargetState]
    incarnation: Mapped[int]
    epoch: Mapped[int] = mapped_column(BigInteger)
    sequence: Mapped[int] = mapped_column(BigInteger)
    holder: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    assignment: Mapped[str | None]
    task_configs: Mapped[list[Any] | None]
    task_count: Mapped[int | None]
    """Of what the last plan assigned; null: no plan yet since created or stopped."""
    tasks_ever: Mapped[int]
    columns: Mapped[dict[str, Any]]
    topic_ids: Mapped[dict[str, Any]]
    offsets_position: Mapped[dict[str, Any] | None]
    failure: Mapped[dict[str, Any] | None]
    worker: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    planned_version: Mapped[int | None]
    planned_at: Mapped[datetime | None]
    committed_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]


class Deployment(_Table):
    """What the deployment is called, and the identity of this database, made once."""

    __tablename__ = "deployment"

    id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    database: Mapped[str]
    """A UUID that this metadata database has whatever its deployment is called."""
    claimed_at: Mapped[datetime | None]
    """When the brokers took note that the ``group.id`` is this database's."""


class ConnectorConfig(_Table):
    """Every configuration a name ever had."""

    __tablename__ = "connector_configs"

    connector: Mapped[str] = _named()
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    config: Mapped[dict[str, Any]]
    actor: Mapped[str]
    created_at: Mapped[datetime]


class Interval(_Table):
    """One bounded piece of work; at most one a connector is unfinished."""

    __tablename__ = "intervals"
    __table_args__ = (
        Index(
            "uq_intervals_unfinished", "connector", unique=True, postgresql_where=UNFINISHED, sqlite_where=UNFINISHED
        ),
    )

    connector: Mapped[str] = _named()
    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    incarnation: Mapped[int]
    epoch: Mapped[int] = mapped_column(BigInteger)
    config_version: Mapped[int]
    state: Mapped[IntervalState]
    assignment: Mapped[str]
    tasks: Mapped[int]
    attempts: Mapped[int]
    ranges: Mapped[list[Any]]
    source: Mapped[dict[str, Any] | None]
    bound_time: Mapped[datetime | None]
    since: Mapped[datetime | None]
    """Of a backfill: from when on it exports again; it moves no offset."""
    counts: Mapped[dict[str, Any]]
    records: Mapped[int] = mapped_column(BigInteger)
    moved: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """Of a source: records of its committed transactions, whoever ran them, as their markers say."""
    reason: Mapped[str | None]
    retry_at: Mapped[datetime | None]
    tries_left: Mapped[int]
    run_id: Mapped[str]
    job_tag: Mapped[str]
    worker: Mapped[str]
    heartbeat_at: Mapped[datetime | None]
    planned_at: Mapped[datetime]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class IntervalTask(_Table):
    """One task of an interval: its last attempt, and what earlier ones moved."""

    __tablename__ = "interval_tasks"

    connector: Mapped[str] = _named()
    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    task: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempts: Mapped[int]
    outcome: Mapped[TaskOutcome | None]
    """Null while an attempt runs."""
    counts: Mapped[dict[str, Any]]
    carried: Mapped[dict[str, Any]]
    """Counts of earlier attempts whose data stands."""
    is_staged: Mapped[bool] = mapped_column(Boolean)
    error_kind: Mapped[str | None]
    error_message: Mapped[str | None]
    trace: Mapped[str | None]
    is_retriable: Mapped[bool] = mapped_column(Boolean)
    progress: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None]
    """What a task that is done has reported; null unless its outcome is DONE."""
    worker: Mapped[str]
    process: Mapped[int]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class Offset(_Table):
    """A position by canonical JSON of its partition; ``digest`` keeps the key short."""

    __tablename__ = "offsets"

    connector: Mapped[str] = _named()
    type: Mapped[ConnectorType] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    partition: Mapped[str]
    offset: Mapped[str]
    sequence: Mapped[int] = mapped_column(BigInteger)
    epoch: Mapped[int] = mapped_column(BigInteger)
    marker: Mapped[dict[str, Any] | None]
    """Where the proof lies: a place in the offsets topic, or null for the target."""
    state: Mapped[dict[str, Any] | None]
    """What the source keeps for itself, such as a file's identity."""
    updated_at: Mapped[datetime]


class OffsetHistory(_Table):
    """Every move of every offset: who, from, to."""

    __tablename__ = "offset_history"
    __table_args__ = (Index(None, "connector", "id"), Index(None, "moved_at"))

    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    connector: Mapped[str] = _of_connector()
    type: Mapped[ConnectorType]
    partition: Mapped[str]
    before: Mapped[str | None]
    after: Mapped[str | None]
    cause: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str | None]
    sequence: Mapped[int] = mapped_column(BigInteger)
    epoch: Mapped[int] = mapped_column(BigInteger)
    moved_at: Mapped[datetime]


class Topic(_Table):
    """A topic the connector's records went to or came from (KIP-558)."""

    __tablename__ = "topics"

    connector: Mapped[str] = _named()
    topic: Mapped[str] = mapped_column(primary_key=True)
    first_seen_at: Mapped[datetime]


class RecordError(_Table):
    """Skipped records of one interval, summed up by stage and error."""

    __tablename__ = "record_errors"
    __table_args__ = (Index(None, "connector", "last_at"),)

    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    connector: Mapped[str] = _of_connector()
    sequence: Mapped[int] = mapped_column(BigInteger)
    task: Mapped[int]
    stage: Mapped[str]
    error_kind: Mapped[str]
    message: Mapped[str]
    records: Mapped[int] = mapped_column(BigInteger)
    sample: Mapped[dict[str, Any]]
    """Where the first one lies: topic, partition, offset; or source partition and offset."""
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class DagState(_Table):
    """What Airflow last said of the connector's DAG."""

    __tablename__ = "dag_state"

    connector: Mapped[str] = _named()
    dag_id: Mapped[str]
    is_paused: Mapped[bool] = mapped_column(Boolean)
    run_id: Mapped[str | None]
    run_state: Mapped[str | None]
    next_run_at: Mapped[datetime | None]
    seen_at: Mapped[datetime]


class Waiting(_Table):
    """Work that waits for a connector, and since when nothing of it was done."""

    __tablename__ = "waiting"

    connector: Mapped[str] = _named()
    work: Mapped[str] = mapped_column(String(16))
    records: Mapped[int | None] = mapped_column(BigInteger)
    since: Mapped[datetime]
    """When it was first seen, or last seen to progress."""
    mark: Mapped[str]
    """Changes with every commit."""
    moved: Mapped[int] = mapped_column(BigInteger)
    """How far the running interval is at most; the unit does not matter."""
    run_id: Mapped[str | None]
    run_state: Mapped[str | None]
    """Of the task in Airflow."""
    run_since: Mapped[datetime | None]
    run_pool: Mapped[str | None]
    cleared: Mapped[int]
    """How often its run was given up as lost, since it last progressed."""


class Report(_Table):
    """When a part of the deployment last worked, as somebody who used it tells."""

    __tablename__ = "reports"

    part: Mapped[str] = mapped_column(String(32), primary_key=True)
    worked_at: Mapped[datetime | None]
    told_at: Mapped[datetime]
    error: Mapped[str | None]


class SchedulerSilence(_Table):
    """Airflow does not answer one of those that ask it."""

    __tablename__ = "scheduler_silences"

    observer: Mapped[str] = mapped_column(String(16), primary_key=True)
    since: Mapped[datetime]
    reason: Mapped[str]
    noted_at: Mapped[datetime]


class Restart(_Table):
    """A restart asked for and not yet begun; ``task`` -1 is the connector itself."""

    __tablename__ = "restarts"

    connector: Mapped[str] = _named()
    task: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    asked_at: Mapped[datetime]


class Request(_Table):
    """An act to be carried out on the scheduler by whoever serves it."""

    __tablename__ = "requests"
    __table_args__ = (Index(None, "done_at", "id"),)

    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    connector: Mapped[str | None]
    detail: Mapped[dict[str, Any]]
    actor: Mapped[str]
    asked_at: Mapped[datetime]
    taken_by: Mapped[str | None]
    taken_until: Mapped[datetime | None]
    tries: Mapped[int]
    done_at: Mapped[datetime | None]
    error: Mapped[str | None]


class Intent(_Table):
    """Offsets an operator wants, between the raised epoch and the moved target."""

    __tablename__ = "intents"

    connector: Mapped[str] = _named()
    epoch: Mapped[int] = mapped_column(BigInteger)
    wanted: Mapped[dict[str, Any] | None]
    actor: Mapped[str]
    asked_at: Mapped[datetime]


class Origin(_Table):
    """The Kafka Connect cluster a connector was imported from, and which of the two has its newest offsets."""

    __tablename__ = "origins"

    connector: Mapped[str] = _named()
    url: Mapped[str]
    is_here: Mapped[bool] = mapped_column(Boolean())
    state: Mapped[str | None] = mapped_column(String(16))
    """Of a switch that is under way: the state the connector had when it began, and will have again."""
    changed_at: Mapped[datetime]


class Audit(_Table):
    """Who did what to which connector."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "connector", "id"),)

    id: Mapped[int] = mapped_column(_Number, primary_key=True)
    actor: Mapped[str]
    action: Mapped[str] = mapped_column(String(32))
    connector: Mapped[str | None]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
    done_at: Mapped[datetime]
