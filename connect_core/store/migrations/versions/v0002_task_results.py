"""What a task has reported is kept until its interval ends.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("interval_tasks", sa.Column("result", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("interval_tasks", "result")
