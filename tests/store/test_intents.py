"""Altered and reset offsets: only while STOPPED, the epoch first, SQL last."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, select

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import IllegalWorkerStateError, NotFoundError, StaleEpochError
from connect_core.interval.effects import (
    DELETED,
    CommitInterval,
    FinishIntent,
    LoadConnector,
    LoadOffsets,
    LoadUnfinished,
    RaiseEpoch,
    StoreIntent,
    TakeLease,
)
from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TopicPosition
from connect_core.store import connectors, intents, offsets
from connect_core.store.models import Intent, Interval
from tests.store.harness import Harness, race

PARTITION = '{"kafka_partition":0,"kafka_topic":"t"}'
PART = TopicPartition("t", 0)


def pending(connection: Connection) -> tuple[Any, str] | None:
    """Return what is wanted, and by whom, that is not finished yet."""
    row = connection.execute(select(Intent.wanted, Intent.actor).where(Intent.connector == "c")).one_or_none()
    return None if row is None else (row.wanted, row.actor)


@pytest.mark.parametrize("target", [TargetState.STARTED, TargetState.PAUSED])
def test_intent_needs_a_stopped_connector(harness: Harness, target: TargetState) -> None:
    harness.create()
    harness.target(target)
    with pytest.raises(IllegalWorkerStateError, match=r"must be in the STOPPED state.*'/connectors/c/stop' endpoint"):
        harness.do(StoreIntent("c", None))


def test_intent_of_unknown_connector(harness: Harness) -> None:
    with pytest.raises(NotFoundError, match="Connector c not found"):
        harness.do(StoreIntent("c", None))


def test_intent_fences_the_run_before(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    harness.target(TargetState.STOPPED)
    epoch = harness.do(StoreIntent("c", {PARTITION: {"kafka_offset": 3}}, "jo", floor=6))
    assert epoch == 7
    with pytest.raises(StaleEpochError):
        harness.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
    with harness.database.read() as connection:
        assert pending(connection) == ({PARTITION: {"kafka_offset": 3}}, "jo")
    harness.do(FinishIntent("c", epoch, {PARTITION: {"kafka_offset": 3}}))
    assert harness.do(LoadOffsets("c")) == {PART: 3}
    assert harness.do(LoadUnfinished("c")) is None
    assert reason_of(harness) == "offsets were altered or reset"
    with harness.database.read() as connection:
        assert pending(connection) is None
        (line,) = offsets.history(connection, "c")
    assert (line.cause, line.actor, line.epoch) == ("alter", "jo", 7)


def test_interval_of_a_deleted_connector_is_abandoned_for_that_reason(harness: Harness) -> None:
    harness.create(kind=ConnectorType.SOURCE)
    harness.insert(IntervalKey("c", 1, 1, harness.drive()))
    harness.target(TargetState.STOPPED)
    harness.do(FinishIntent("c", harness.do(StoreIntent("c", {})), {}, reason=DELETED))
    assert reason_of(harness) == "the connector was deleted"


def reason_of(harness: Harness) -> str | None:
    with harness.database.read() as connection:
        (row,) = connection.execute(select(Interval.state, Interval.reason))
    assert row.state is IntervalState.ABANDONED
    reason: str | None = row.reason
    return reason


def test_reset_forgets_offsets(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    harness.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
    harness.target(TargetState.STOPPED)
    epoch = harness.do(StoreIntent("c", None, "jo"))
    harness.do(FinishIntent("c", epoch, {PARTITION: None}))
    assert harness.do(LoadOffsets("c")) == {}
    with harness.database.read() as connection:
        assert offsets.history(connection, "c")[0].cause == "reset"


def test_reset_before_the_first_interval_counts_as_one(harness: Harness) -> None:
    """Else the first plan would adopt the very positions of a consumer group that were to be forgotten."""
    harness.create()
    harness.target(TargetState.STOPPED)
    harness.do(StoreIntent("c", {PARTITION: {"kafka_offset": 3}}))
    assert harness.do(LoadConnector("c")).sequence == 0
    harness.do(StoreIntent("c", None))
    harness.do(StoreIntent("c", None))
    assert harness.do(LoadConnector("c")).sequence == 1


def test_overtaken_intent_is_stale(harness: Harness) -> None:
    harness.create()
    harness.target(TargetState.STOPPED)
    first = harness.do(StoreIntent("c", None))
    second = harness.do(StoreIntent("c", None))
    assert second == first + 1
    with pytest.raises(StaleEpochError):
        harness.do(FinishIntent("c", first, {}))
    harness.do(FinishIntent("c", second, {}))


def test_resume_overtakes_an_intent(harness: Harness) -> None:
    harness.create()
    harness.target(TargetState.STOPPED)
    epoch = harness.do(StoreIntent("c", None))
    harness.target(TargetState.STARTED)
    harness.do(TakeLease("c", "h", 60))
    harness.do(RaiseEpoch("c", "h"))
    with pytest.raises(StaleEpochError):
        harness.do(FinishIntent("c", epoch, {}))


def test_intent_and_start_race(harness: Harness) -> None:
    harness.create()
    harness.target(TargetState.STOPPED)

    def act(number: int) -> object:
        if number:
            return harness.do(StoreIntent("c", None))
        harness.target(TargetState.STARTED)
        return None

    _, intent = race(2, act)
    assert isinstance(intent, int | IllegalWorkerStateError)


def test_the_offsets_topic_of_a_wish_is_known_before_it_is_written_to(harness: Harness) -> None:
    harness.create(kind=ConnectorType.SOURCE)
    harness.target(TargetState.STOPPED)
    first, other = TopicPosition("offsets", "id-1"), TopicPosition("others", "id-2")
    harness.do(StoreIntent("c", {}, position=first))
    harness.do(StoreIntent("c", {}, position=other))
    assert harness.do(LoadConnector("c")).offsets_position == first


@pytest.mark.parametrize("forget", [True, False])
def test_a_successor_knows_the_offsets_topic_and_reads_all_of_it(harness: Harness, forget: bool) -> None:
    harness.create(kind=ConnectorType.SOURCE)
    harness.target(TargetState.STOPPED)
    epoch = harness.do(StoreIntent("c", {}))
    harness.do(FinishIntent("c", epoch, {}, TopicPosition("offsets", "id-1", {0: 7})))
    with harness.database.write() as connection:
        if not forget:
            epoch = intents.store(connection, StoreIntent("c", {}))
            intents.finish_unasked(connection, FinishIntent("c", epoch, {}))
        connectors.delete(connection, "c", forget_offsets=forget)
    harness.create(kind=ConnectorType.SOURCE)
    assert harness.do(LoadConnector("c")).offsets_position == TopicPosition("offsets", "id-1")
