"""The first schema.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
UNFINISHED = sa.text("state NOT IN ('COMMITTED', 'ABANDONED')")


def upgrade() -> None:
    """Create all tables."""
    _connectors()
    _audit()
    _deployment()
    _requests()
    _connector_configs()
    _dag_state()
    _intents()
    _interval_tasks()
    _intervals()
    _offset_history()
    _offsets()
    _record_errors()
    _restarts()
    _topics()


def downgrade() -> None:
    """Drop all tables."""
    for table in (
        "topics",
        "restarts",
        "record_errors",
        "offsets",
        "offset_history",
        "intervals",
        "interval_tasks",
        "intents",
        "dag_state",
        "connector_configs",
        "requests",
        "deployment",
        "audit",
        "connectors",
    ):
        op.drop_table(table)


def _connectors() -> None:
    op.create_table(
        "connectors",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("plugin_version", sa.Text(), nullable=True),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("config_version", sa.Integer(), nullable=False),
        sa.Column("target_state", sa.String(16), nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("deal", sa.Text(), nullable=True),
        sa.Column("task_configs", sa.Text(), nullable=True),
        sa.Column("task_count", sa.Integer(), nullable=True),
        sa.Column("tasks_ever", sa.Integer(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("topic_ids", sa.Text(), nullable=False),
        sa.Column("offsets_position", sa.Text(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("planned_version", sa.Integer(), nullable=True),
        sa.Column("planned_at", MOMENT, nullable=True),
        sa.Column("committed_at", MOMENT, nullable=True),
        sa.Column("deleted_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_connectors"),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("connector", sa.Text(), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("done_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_connector_id", "audit", ["connector", "id"], unique=False)


def _deployment() -> None:
    op.create_table(
        "deployment",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deployment"),
    )


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("connector", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.Column("taken_until", MOMENT, nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_requests"),
    )
    op.create_index("ix_requests_done_at_id", "requests", ["done_at", "id"], unique=False)


def _connector_configs() -> None:
    op.create_table(
        "connector_configs",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_connector_configs_connector"),
        sa.PrimaryKeyConstraint("connector", "version", name="pk_connector_configs"),
    )


def _dag_state() -> None:
    op.create_table(
        "dag_state",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("dag_id", sa.Text(), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("run_state", sa.Text(), nullable=True),
        sa.Column("next_run_at", MOMENT, nullable=True),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_dag_state_connector"),
        sa.PrimaryKeyConstraint("connector", name="pk_dag_state"),
    )


def _intents() -> None:
    op.create_table(
        "intents",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("wanted", sa.Text(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_intents_connector"),
        sa.PrimaryKeyConstraint("connector", name="pk_intents"),
    )


def _interval_tasks() -> None:
    op.create_table(
        "interval_tasks",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("task", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=True),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("carried", sa.Text(), nullable=False),
        sa.Column("is_staged", sa.Boolean(), nullable=False),
        sa.Column("error_kind", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("trace", sa.Text(), nullable=True),
        sa.Column("is_retriable", sa.Boolean(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_interval_tasks_connector"),
        sa.PrimaryKeyConstraint("connector", "sequence", "task", name="pk_interval_tasks"),
    )


def _intervals() -> None:
    op.create_table(
        "intervals",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("config_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("deal", sa.Text(), nullable=False),
        sa.Column("tasks", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("ranges", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("bound_time", MOMENT, nullable=True),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("moved", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("retry_at", MOMENT, nullable=True),
        sa.Column("tries_left", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("job_tag", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", MOMENT, nullable=True),
        sa.Column("planned_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_intervals_connector"),
        sa.PrimaryKeyConstraint("connector", "sequence", name="pk_intervals"),
    )
    op.create_index(
        "uq_intervals_unfinished",
        "intervals",
        ["connector"],
        unique=True,
        postgresql_where=UNFINISHED,
        sqlite_where=UNFINISHED,
    )


def _offset_history() -> None:
    op.create_table(
        "offset_history",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("partition", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("cause", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("moved_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_offset_history_connector"),
        sa.PrimaryKeyConstraint("id", name="pk_offset_history"),
    )
    op.create_index("ix_offset_history_connector_id", "offset_history", ["connector", "id"], unique=False)
    op.create_index("ix_offset_history_moved_at", "offset_history", ["moved_at"], unique=False)


def _offsets() -> None:
    op.create_table(
        "offsets",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("partition", sa.Text(), nullable=False),
        sa.Column("offset", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("marker", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_offsets_connector"),
        sa.PrimaryKeyConstraint("connector", "type", "digest", name="pk_offsets"),
    )


def _record_errors() -> None:
    op.create_table(
        "record_errors",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("task", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("error_kind", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("sample", sa.Text(), nullable=False),
        sa.Column("first_at", MOMENT, nullable=False),
        sa.Column("last_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_record_errors_connector"),
        sa.PrimaryKeyConstraint("id", name="pk_record_errors"),
    )
    op.create_index("ix_record_errors_connector_last_at", "record_errors", ["connector", "last_at"], unique=False)


def _restarts() -> None:
    op.create_table(
        "restarts",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("task", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_restarts_connector"),
        sa.PrimaryKeyConstraint("connector", "task", name="pk_restarts"),
    )


def _topics() -> None:
    op.create_table(
        "topics",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("first_seen_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_topics_connector"),
        sa.PrimaryKeyConstraint("connector", "topic", name="pk_topics"),
    )
