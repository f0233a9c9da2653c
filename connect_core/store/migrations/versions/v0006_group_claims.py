"""A metadata database has an identity of its own, and knows whether its group.id is claimed on the brokers.

Revision ID: 0006
"""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the columns."""
    with op.batch_alter_table("deployment") as table:
        table.add_column(sa.Column("database", sa.Text(), nullable=False, server_default=str(uuid.uuid4())))
        table.add_column(sa.Column("claimed_at", MOMENT, nullable=True))
    with op.batch_alter_table("deployment") as table:
        table.alter_column("database", server_default=None)


def downgrade() -> None:
    """Drop the columns."""
    with op.batch_alter_table("deployment") as table:
        table.drop_column("claimed_at")
        table.drop_column("database")
