"""Connectors count their intervals and records, so that counters survive the retention of the history.

Revision ID: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TOTALS = ("committed_intervals", "committed_records", "abandoned_intervals", "skipped_records")
_OF_STATE = "SELECT {what} FROM intervals WHERE intervals.connector = connectors.name AND intervals.state = '{state}'"


def upgrade() -> None:
    """Add the columns, and begin with what the history contains."""
    # Not by batch, which on SQLite would drop a table that others refer to.
    for name in TOTALS:
        op.add_column("connectors", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
    op.execute(f"""
        UPDATE connectors SET
            committed_intervals = ({_OF_STATE.format(what="count(*)", state="COMMITTED")}),
            committed_records = ({_OF_STATE.format(what="coalesce(sum(intervals.records), 0)", state="COMMITTED")}),
            abandoned_intervals = ({_OF_STATE.format(what="count(*)", state="ABANDONED")}),
            skipped_records = (SELECT coalesce(sum(record_errors.records), 0) FROM record_errors
                WHERE record_errors.connector = connectors.name)
    """)


def downgrade() -> None:
    """Drop the columns."""
    for name in TOTALS:
        op.drop_column("connectors", name)
