"""Connectors that were imported remember from where, and which side has their newest offsets.

Revision ID: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MOMENT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "origins",
        sa.Column("connector", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("is_here", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(16), nullable=True),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["connector"], ["connectors.name"], name="fk_origins_connector"),
        sa.PrimaryKeyConstraint("connector", name="pk_origins"),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("origins")
