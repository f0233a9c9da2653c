"""What tells how tasks share out the work is called an assignment.

Revision ID: 0007
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = ("connectors", "intervals")


def upgrade() -> None:
    """Rename the columns."""
    for name in _TABLES:
        with op.batch_alter_table(name) as table:
            table.alter_column("deal", new_column_name="assignment")


def downgrade() -> None:
    """Rename them back."""
    for name in _TABLES:
        with op.batch_alter_table(name) as table:
            table.alter_column("assignment", new_column_name="deal")
