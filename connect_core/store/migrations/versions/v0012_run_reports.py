"""Drivers of a spark-submit report how their runs ended, wherever they ran.

Revision ID: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "run_reports",
        sa.Column("ticket", sa.String(32), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("reported_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("ticket", name="pk_run_reports"),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("run_reports")
