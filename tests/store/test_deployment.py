"""The identity of a standalone deployment is made once; a group.id is not changed under a task that may live."""

from __future__ import annotations

import uuid

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.errors import ConfigError
from connect_core.interval.effects import CommitInterval
from connect_core.interval.values import ConnectorType, SourceBounds
from connect_core.store import Database, deployment
from tests.store.harness import Harness, race


def test_identity_is_made_once(database: Database) -> None:
    with database.write() as connection:
        first = deployment.identity(connection)
    with database.read() as connection:
        assert deployment.identity(connection) == first
    assert str(uuid.UUID(first)) == first


def test_group_is_changed_while_nothing_is_unfinished(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    harness.create("k", ConnectorType.SINK)
    key = IntervalKey("s", 1, 1, harness.drive("s"))
    sink = IntervalKey("k", 1, 1, harness.drive("k"))
    claim(harness, "old")
    harness.insert_source(key, SourceBounds({}))
    harness.insert(sink)
    claim(harness, "old")
    with pytest.raises(ConfigError, match=r"intervals of s are unfinished.*Go back to group\.id=old"):
        claim(harness, "new")
    claim(harness, "old")
    harness.do(CommitInterval(key, key.epoch, ()))
    claim(harness, "new")
    with harness.database.read() as connection:
        assert deployment.identity(connection) == "new"


def test_processes_that_begin_at_once_claim_as_one(harness: Harness) -> None:
    def claim_again(number: int) -> str:
        with harness.database.write() as connection:
            return deployment.claim(connection, "group")

    assert len(set(race(6, claim_again))) == 1


def claim(harness: Harness, group: str) -> None:
    with harness.database.write() as connection:
        deployment.claim(connection, group)
