"""The identity of a standalone deployment is made once; a group.id is not changed under a task that may live."""

from __future__ import annotations

import uuid

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.errors import ConfigError
from connect_core.interval.effects import CommitInterval
from connect_core.interval.values import ConnectorType, SourceBounds
from connect_core.store import Database, deployment
from tests.store.worlds import World, race


def test_identity_is_made_once(database: Database) -> None:
    with database.write() as connection:
        first = deployment.identity(connection)
    with database.read() as connection:
        assert deployment.identity(connection) == first
    assert str(uuid.UUID(first)) == first


def test_group_is_changed_while_nothing_is_unfinished(world: World) -> None:
    world.create("s", ConnectorType.SOURCE)
    world.create("k", ConnectorType.SINK)
    key = IntervalKey("s", 1, 1, world.drive("s"))
    sink = IntervalKey("k", 1, 1, world.drive("k"))
    claim(world, "old")
    world.insert_source(key, SourceBounds({}))
    world.insert(sink)
    claim(world, "old")
    with pytest.raises(ConfigError, match=r"intervals of s are unfinished.*Go back to group\.id=old"):
        claim(world, "new")
    claim(world, "old")
    world.do(CommitInterval(key, key.epoch, ()))
    claim(world, "new")
    with world.database.read() as connection:
        assert deployment.identity(connection) == "new"


def test_processes_that_begin_at_once_claim_as_one(world: World) -> None:
    def claim_again(number: int) -> str:
        with world.database.write() as connection:
            return deployment.claim(connection, "group")

    assert len(set(race(6, claim_again))) == 1


def claim(world: World, group: str) -> None:
    with world.database.write() as connection:
        deployment.claim(connection, group)
