"""A place in the offsets topic names the topic, and its id: elsewhere it means nothing.

Revision ID: 0003
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_INTERVALS = sa.table(
    "intervals",
    sa.column("connector", sa.Text),
    sa.column("incarnation", sa.Integer),
    sa.column("sequence", sa.BigInteger),
    sa.column("source", sa.Text),
)


def upgrade() -> None:
    """Forget places of unknown topics: the next plan reads the whole topic."""
    _forget()


def downgrade() -> None:
    """Forget places whose topics would no longer be known."""
    _forget()
    for row in op.get_bind().execute(sa.select(_INTERVALS).where(_INTERVALS.c.source.is_not(None))).all():
        _store(row, {**json.loads(row.source), "position": {}})


def _forget() -> None:
    connection = op.get_bind()
    connection.execute(sa.text("UPDATE connectors SET offsets_position = NULL"))
    connection.execute(sa.text("UPDATE offsets SET marker = NULL"))
    for row in connection.execute(sa.select(_INTERVALS).where(_INTERVALS.c.source.is_not(None))).all():
        _store(row, {**json.loads(row.source), "position": None})


def _store(row: Any, source: Any) -> None:
    same = [_INTERVALS.c[name] == getattr(row, name) for name in ("connector", "incarnation", "sequence")]
    op.get_bind().execute(sa.update(_INTERVALS).where(*same).values(source=json.dumps(source)))
