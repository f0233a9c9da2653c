"""Where imported connectors come from, on both databases."""

from __future__ import annotations

import pytest

from connect_core.errors import IllegalWorkerStateError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, origins
from connect_core.store.connectors import NewConfig
from connect_core.store.origins import OriginRow

THERE = OriginRow("http://there:8083", is_here=False)
CONFIG = NewConfig(ConnectorType.SOURCE, {"name": "a", "connector.class": "FileStreamSource"})


def created(database: Database) -> None:
    with database.write() as connection:
        connectors.create(connection, "a", CONFIG, TargetState.STOPPED)


def test_it_is_kept_until_the_connector_is_deleted(database: Database) -> None:
    created(database)
    with database.write() as connection:
        assert origins.find(connection, "a") is None
        origins.record(connection, "a", THERE)
        origins.record(connection, "a", OriginRow(THERE.url, is_here=True, state="PAUSED"))
        found = origins.find(connection, "a")
        assert found is not None
        assert (found.url, found.is_here, found.state) == (THERE.url, True, "PAUSED")
        connectors.delete(connection, "a")
        assert origins.find(connection, "a") is None


def test_one_command_at_a_time(database: Database, database_url: str) -> None:
    created(database)
    other = Database(database_url)
    with origins.alone(database, "a"):
        # Both still write, and another connector may be switched meanwhile.
        with other.write() as connection:
            origins.record(connection, "a", THERE)
        with origins.alone(other, "b"):
            pass
        with (
            pytest.raises(IllegalWorkerStateError, match="Another command is switching a"),
            origins.alone(other, "a"),
        ):
            pass
    with origins.alone(other, "a"):
        pass
    other.close()
