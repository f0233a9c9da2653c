"""The tables of the metadata database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.table import METADATA, NUMBER, Table
from connect_core.store.types import FreeText

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
    "RunReport",
    "SchedulerSilence",
    "Topic",
    "Waiting",
]

NOT_FINAL = text("state NOT IN ('COMMITTED', 'ABANDONED')")
BOUNDED = text("bound_time IS NOT NULL")


def _named() -> Mapped[str]:
    return mapped_column(FreeText(), ForeignKey("connectors.name"), primary_key=True)


def _of_connector() -> Mapped[str]:
    return mapped_column(FreeText(), ForeignKey("connectors.name"))


class Connector(Table):
    """One permanent row per name: deletion sets ``deleted_at``, so epoch, sequence and totals never restart."""

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
    """Number of tasks assigned by the last plan; null: no plan since it was created or stopped."""
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
    committed_intervals: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    committed_records: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    abandoned_intervals: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    skipped_records: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")


class Deployment(Table):
    """The id of the deployment, and that of this database, which never changes."""

    __tablename__ = "deployment"

    id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    database: Mapped[str]
    """The UUID of this metadata database, independent of the deployment's id."""
    claimed_at: Mapped[datetime | None]
    """When this database's claim to the ``group.id`` was stored in the brokers."""


class ConnectorConfig(Table):
    """Every configuration that a connector's name ever had."""

    __tablename__ = "connector_configs"

    connector: Mapped[str] = _named()
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    config: Mapped[dict[str, Any]]
    actor: Mapped[str]
    created_at: Mapped[datetime]


class Interval(Table):
    """One bounded piece of work; at most one per connector is unfinished."""

    __tablename__ = "intervals"
    __table_args__ = (
        Index("uq_intervals_unfinished", "connector", unique=True, postgresql_where=NOT_FINAL, sqlite_where=NOT_FINAL),
        Index("ix_intervals_run", "connector", "run_id"),
        Index("ix_intervals_bound_time", "connector", "bound_time", postgresql_where=BOUNDED, sqlite_where=BOUNDED),
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
    """For a backfill, which moves no offset: the start of the period it exports again."""
    counts: Mapped[dict[str, Any]]
    records: Mapped[int] = mapped_column(BigInteger)
    moved: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """For a source: records of its committed transactions by their markers, whichever driver ran them."""
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


class IntervalTask(Table):
    """One task of an interval: its last attempt, and the counts of earlier ones."""

    __tablename__ = "interval_tasks"

    connector: Mapped[str] = _named()
    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    task: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempts: Mapped[int]
    outcome: Mapped[TaskOutcome | None]
    """Null while an attempt runs."""
    counts: Mapped[dict[str, Any]]
    carried: Mapped[dict[str, Any]]
    """Counts of earlier attempts whose data remains."""
    is_staged: Mapped[bool] = mapped_column(Boolean)
    error_kind: Mapped[str | None]
    error_message: Mapped[str | None]
    trace: Mapped[str | None]
    is_retriable: Mapped[bool] = mapped_column(Boolean)
    progress: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None]
    """The result of a task that is done; null unless its outcome is DONE."""
    worker: Mapped[str]
    process: Mapped[int]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class Offset(Table):
    """An offset by canonical JSON of its partition; ``digest`` keeps the key short."""

    __tablename__ = "offsets"

    connector: Mapped[str] = _named()
    type: Mapped[ConnectorType] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    partition: Mapped[str]
    offset: Mapped[str]
    sequence: Mapped[int] = mapped_column(BigInteger)
    epoch: Mapped[int] = mapped_column(BigInteger)
    marker: Mapped[dict[str, Any] | None]
    """The place of the proof: a position in the offsets topic, or null for the target."""
    state: Mapped[dict[str, Any] | None]
    """Private state of the source, such as a file's identity."""
    updated_at: Mapped[datetime]


class OffsetHistory(Table):
    """Every move of every offset, with its cause, its actor and both offsets."""

    __tablename__ = "offset_history"
    __table_args__ = (Index(None, "connector", "id"), Index(None, "moved_at"))

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
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


class Topic(Table):
    """A topic that the connector wrote to or read from (KIP-558)."""

    __tablename__ = "topics"

    connector: Mapped[str] = _named()
    topic: Mapped[str] = mapped_column(primary_key=True)
    first_seen_at: Mapped[datetime]


class RecordError(Table):
    """Skipped records of one interval, summed up by stage and error."""

    __tablename__ = "record_errors"
    __table_args__ = (Index(None, "connector", "last_at"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    connector: Mapped[str] = _of_connector()
    sequence: Mapped[int] = mapped_column(BigInteger)
    task: Mapped[int]
    stage: Mapped[str]
    error_kind: Mapped[str]
    message: Mapped[str]
    records: Mapped[int] = mapped_column(BigInteger)
    sample: Mapped[dict[str, Any]]
    """The position of the first one: topic, partition, offset; or source partition and offset."""
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class DagState(Table):
    """The last known state of the connector's DAG in Airflow; ``seen_at``: when that changed."""

    __tablename__ = "dag_state"

    connector: Mapped[str] = _named()
    dag_id: Mapped[str]
    is_paused: Mapped[bool] = mapped_column(Boolean)
    run_id: Mapped[str | None]
    run_state: Mapped[str | None]
    next_run_at: Mapped[datetime | None]
    seen_at: Mapped[datetime]


class Waiting(Table):
    """Waiting work of a connector, and since when there has been no progress."""

    __tablename__ = "waiting"

    connector: Mapped[str] = _named()
    work: Mapped[str] = mapped_column(String(16))
    records: Mapped[int | None] = mapped_column(BigInteger)
    since: Mapped[datetime]
    """When it was first seen, or when progress was last seen."""
    mark: Mapped[str]
    """Changes with every commit."""
    moved: Mapped[int] = mapped_column(BigInteger)
    """The greatest progress seen of the running interval, in no particular unit."""
    run_id: Mapped[str | None]
    run_state: Mapped[str | None]
    """Of the task in Airflow."""
    run_since: Mapped[datetime | None]
    run_pool: Mapped[str | None]
    cleared: Mapped[int]
    """How often its run was given up as lost since the last progress."""


class Report(Table):
    """When a part of the deployment last worked, reported by a process that uses it."""

    __tablename__ = "reports"

    part: Mapped[str] = mapped_column(String(32), primary_key=True)
    worked_at: Mapped[datetime | None]
    told_at: Mapped[datetime]
    error: Mapped[str | None]


class SchedulerSilence(Table):
    """Airflow does not answer one of the processes that call it."""

    __tablename__ = "scheduler_silences"

    observer: Mapped[str] = mapped_column(String(16), primary_key=True)
    since: Mapped[datetime]
    reason: Mapped[str]
    noted_at: Mapped[datetime]


class RunReport(Table):
    """How a run ended, left by its driver for the process that started it with this ticket."""

    __tablename__ = "run_reports"

    ticket: Mapped[str] = mapped_column(String(32), primary_key=True)
    report: Mapped[str]
    reported_at: Mapped[datetime]


class Restart(Table):
    """A restart that was requested and has not begun; ``task`` -1 is the connector itself."""

    __tablename__ = "restarts"

    connector: Mapped[str] = _named()
    task: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    asked_at: Mapped[datetime]


class Request(Table):
    """An act on the scheduler, to be carried out by a process that serves requests."""

    __tablename__ = "requests"
    __table_args__ = (Index(None, "done_at", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
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


class Intent(Table):
    """Offsets wanted by an operator, stored from raising the epoch until the target was moved."""

    __tablename__ = "intents"

    connector: Mapped[str] = _named()
    epoch: Mapped[int] = mapped_column(BigInteger)
    wanted: Mapped[dict[str, Any] | None]
    actor: Mapped[str]
    asked_at: Mapped[datetime]


class Origin(Table):
    """The Kafka Connect cluster from which a connector was imported, and which of the two has its newest offsets."""

    __tablename__ = "origins"

    connector: Mapped[str] = _named()
    url: Mapped[str]
    is_here: Mapped[bool] = mapped_column(Boolean())
    state: Mapped[str | None] = mapped_column(String(16))
    """During a switch: the state the connector had at its beginning, and will have again; else null."""
    changed_at: Mapped[datetime]


class Audit(Table):
    """Who did what to which connector."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "connector", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    actor: Mapped[str]
    action: Mapped[str] = mapped_column(String(32))
    connector: Mapped[str | None]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
    done_at: Mapped[datetime]
