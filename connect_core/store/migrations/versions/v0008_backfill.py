"""Intervals of backfills say from when on they export again.

Revision ID: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the column."""
    with op.batch_alter_table("intervals") as table:
        table.add_column(sa.Column("since", MOMENT, nullable=True))


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("intervals") as table:
        table.drop_column("since")
