"""The intervals of a run, and the last time bound, are found without reading a connector's whole history.

Revision ID: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

BOUNDED = sa.text("bound_time IS NOT NULL")


def upgrade() -> None:
    """Create the indexes."""
    op.create_index("ix_intervals_run", "intervals", ["connector", "run_id"])
    op.create_index(
        "ix_intervals_bound_time",
        "intervals",
        ["connector", "bound_time"],
        postgresql_where=BOUNDED,
        sqlite_where=BOUNDED,
    )


def downgrade() -> None:
    """Drop the indexes."""
    op.drop_index("ix_intervals_bound_time", "intervals")
    op.drop_index("ix_intervals_run", "intervals")
