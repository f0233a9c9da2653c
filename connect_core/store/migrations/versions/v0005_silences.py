"""Since when Airflow has not answered is kept, for the page and the REST API.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "scheduler_silences",
        sa.Column("observer", sa.String(16), nullable=False),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("noted_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("observer", name="pk_scheduler_silences"),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("scheduler_silences")
