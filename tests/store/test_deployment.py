"""The identity of a standalone deployment is made once."""

from __future__ import annotations

import uuid

from connect_core.store import Database, deployment


def test_identity_is_made_once(database: Database) -> None:
    with database.write() as connection:
        first = deployment.identity(connection)
    with database.read() as connection:
        assert deployment.identity(connection) == first
    assert str(uuid.UUID(first)) == first
