"""Work that waits without progress, and which parts of the deployment were last seen to work.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "waiting",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("work", sa.String(16), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=True),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("moved", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("run_state", sa.Text(), nullable=True),
        sa.Column("run_since", MOMENT, nullable=True),
        sa.Column("run_pool", sa.Text(), nullable=True),
        sa.Column("cleared", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_waiting_connector"),
        sa.PrimaryKeyConstraint("connector", name="pk_waiting"),
    )
    op.create_table(
        "reports",
        sa.Column("part", sa.String(32), nullable=False),
        sa.Column("worked_at", MOMENT, nullable=True),
        sa.Column("told_at", MOMENT, nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("part", name="pk_reports"),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("reports")
    op.drop_table("waiting")
