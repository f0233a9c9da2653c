"""The identity of a standalone deployment, kept in its own database."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, insert, select

from connect_core.store.clock import now
from connect_core.store.models import Deployment

__all__ = ["identity"]


def identity(connection: Connection) -> str:
    """Return the deployment's UUID; it is made at the first call, in this transaction."""
    found = connection.scalar(select(Deployment.id).order_by(Deployment.created_at).limit(1))
    if found is not None:
        return found
    made = str(uuid.uuid4())
    connection.execute(insert(Deployment).values(id=made, created_at=now()))
    return made
