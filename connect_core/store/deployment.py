"""The deployment a database belongs to: a standalone one's UUID, a distributed one's ``group.id``."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from connect_core.errors import ConfigError
from connect_core.interval.values import ConnectorType, IntervalState
from connect_core.store.clock import now
from connect_core.store.models import Connector, Deployment, Interval

__all__ = ["claim", "claimed", "identity", "record_claim"]


def identity(connection: Connection) -> str:
    """Return the deployment's UUID, which the first call creates in this transaction."""
    found = connection.scalar(select(Deployment.id).order_by(Deployment.created_at).limit(1))
    if found is not None:
        return found
    made = str(uuid.uuid4())
    connection.execute(insert(Deployment).values(id=made, created_at=now(), database=str(uuid.uuid4())))
    return made


def claim(connection: Connection, group: str) -> str:
    """Assign this database to a ``group.id``, the prefix of transactional ids → the database's own id.

    Raise ConfigError if it belonged to another group and sources have unfinished intervals:
    a task of theirs that is still alive has a transactional id that would no longer be fenced.
    """
    known, database = _recorded(connection) or (None, str(uuid.uuid4()))
    if known == group:
        return database
    names = [] if known is None else _unfinished_sources(connection)
    if names:
        raise ConfigError(
            "group.id",
            group,
            f"The database belonged to group.id={known}, and intervals of {', '.join(names)} are unfinished: their "
            f"tasks may still write under ids of {known}. Go back to group.id={known} until these intervals are "
            "finished, or the connectors stopped, and change it then",
        )
    connection.execute(delete(Deployment).where(Deployment.id != group))
    # Several processes may start at once: the first one creates the row, and all use its id.
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    row = insert(Deployment).values(id=group, created_at=now(), database=database)
    connection.execute(row.on_conflict_do_nothing())
    return connection.execute(select(Deployment.database).where(Deployment.id == group)).scalar_one()


def claimed(connection: Connection, group: str) -> bool:
    """Return whether this database's claim to the ``group.id`` is known to be stored in the brokers."""
    found = connection.scalar(select(Deployment.claimed_at).where(Deployment.id == group))
    return found is not None


def record_claim(connection: Connection, group: str) -> None:
    """Record that the claim is stored in the brokers."""
    connection.execute(update(Deployment).where(Deployment.id == group).values(claimed_at=now()))


def _recorded(connection: Connection) -> tuple[str, str] | None:
    """Return the newest deployment's id and that of the database."""
    newest = select(Deployment.id, Deployment.database).order_by(Deployment.created_at.desc()).limit(1)
    row = connection.execute(newest).first()
    return None if row is None else (row.id, row.database)


def _unfinished_sources(connection: Connection) -> list[str]:
    final = (IntervalState.COMMITTED, IntervalState.ABANDONED)
    unfinished = select(Interval.connector).where(Interval.state.not_in(final))
    mine = (Connector.type == ConnectorType.SOURCE) & Connector.deleted_at.is_(None) & Connector.name.in_(unfinished)
    return sorted(connection.scalars(select(Connector.name).where(mine)))
