"""Connectors: created, changed, deleted; epoch and sequence outlive them."""

from __future__ import annotations

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import AlreadyExistsError, NotFoundError, StaleEpochError
from connect_core.interval.effects import (
    CommitInterval,
    LoadConnector,
    LoadOffsets,
    LoadUnfinished,
    RaiseEpoch,
    RecordAssignment,
    TakeLease,
)
from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome, TaskResult
from connect_core.store import Database, configs, connectors, topics
from connect_core.store.connectors import NewConfig
from tests.store.harness import Harness, race

pytestmark = pytest.mark.slow


def test_create_then_get(harness: Harness) -> None:
    harness.create("a", ConnectorType.SOURCE, {"b": "2", "a": "1"})
    state = harness.do(LoadConnector("a"))
    assert (state.name, state.type, dict(state.config)) == ("a", ConnectorType.SOURCE, {"b": "2", "a": "1"})
    assert list(state.config) == ["b", "a"]
    assert (state.config_version, state.epoch, state.incarnation, state.sequence, state.tasks_ever) == (1, 0, 1, 0, 0)
    assert (state.assignment, state.offsets_position, state.failure) == (None, None, None)
    assert state.target_state is TargetState.STARTED


def test_create_twice_is_refused(harness: Harness) -> None:
    harness.create("a")
    with pytest.raises(AlreadyExistsError, match="Connector a already exists"):
        harness.create("a")


def test_create_race_has_one_winner(harness: Harness) -> None:
    results = race(6, lambda number: harness.create("a"))
    assert [type(one) for one in results].count(type(None)) == 1
    assert [type(one) for one in results].count(AlreadyExistsError) == 5


def test_unknown_names_are_not_found(database: Database) -> None:
    with database.write() as connection:
        connectors.create(connection, "x", NewConfig(ConnectorType.SINK, {}), TargetState.STARTED)
        gone = connectors.get(connection, "x")
        connectors.delete(connection, "x")
        assert connectors.find(connection, "x") is None
        for act in (
            lambda: connectors.get(connection, "x"),
            lambda: connectors.delete(connection, "x"),
            lambda: connectors.set_target_state(connection, "x", TargetState.PAUSED),
            lambda: connectors.replace_config(connection, gone, NewConfig(ConnectorType.SINK, {})),
        ):
            with pytest.raises(NotFoundError, match="Connector x not found"):
                act()


def test_names_are_listed_sorted(harness: Harness) -> None:
    for name in ("b", "naïve-東京", "a", "sh/slash", "l" * 300):
        harness.create(name)
    harness.delete("b")
    with harness.database.read() as connection:
        assert connectors.list_names(connection) == ["a", "l" * 300, "naïve-東京", "sh/slash"]


def test_config_versions_are_kept(harness: Harness) -> None:
    harness.create("a", config={"k": "1"})
    with harness.database.write() as connection:
        new = NewConfig(ConnectorType.SOURCE, {"k": "2"}, "4.3.1", "jo")
        assert connectors.replace_config(connection, connectors.get(connection, "a"), new) == 2
        state = connectors.get(connection, "a")
        kept = configs.history(connection, "a")
    assert (state.type, state.config, state.config_version) == (ConnectorType.SOURCE, {"k": "2"}, 2)
    assert [(one.version, one.config, one.actor) for one in kept] == [(2, {"k": "2"}, "jo"), (1, {"k": "1"}, "tester")]


def test_recreated_connector_goes_on_above(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive(holder="one", tasks=3)
    key = IntervalKey("c", 1, 1, epoch)
    harness.insert(key, tasks=3)
    done = TaskResult(0, TaskOutcome.DONE, topics=("t",))
    harness.do(CommitInterval(key, epoch, (done,), positions={TopicPartition("t", 0): 10}))
    harness.delete("c")
    harness.create("c", config={"again": "yes"})
    state = harness.do(LoadConnector("c"))
    assert (state.incarnation, state.sequence, state.tasks_ever, state.config_version) == (2, 1, 3, 2)
    assert state.epoch > epoch
    assert harness.do(LoadOffsets("c")) == {TopicPartition("t", 0): 10}
    with harness.database.read() as connection:
        assert topics.active(connection, "c") == []
    assert harness.do(TakeLease("c", "two", 60)) is not None


def test_forgotten_offsets_are_gone(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive()
    key = IntervalKey("c", 1, 1, epoch)
    harness.insert(key)
    harness.do(CommitInterval(key, epoch, (), positions={TopicPartition("t", 0): 10}, columns={"t": {"a": "int64"}}))
    harness.delete("c", forget_offsets=True)
    harness.create("c")
    assert harness.do(LoadOffsets("c")) == {}
    assert harness.do(LoadConnector("c")).columns == {}


def test_run_under_way_may_commit_after_delete(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive()
    key = IntervalKey("c", 1, 1, epoch)
    harness.insert(key)
    harness.delete("c")
    harness.do(CommitInterval(key, epoch, (), positions={TopicPartition("t", 0): 10}))
    with pytest.raises(StaleEpochError, match="deleted"):
        harness.insert(IntervalKey("c", 1, 2, epoch))
    harness.create("c")
    assert harness.do(LoadOffsets("c")) == {TopicPartition("t", 0): 10}


def test_earlier_life_cannot_commit_into_the_next(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive()
    key = IntervalKey("c", 1, 1, epoch)
    harness.insert(key)
    harness.delete("c")
    harness.create("c")
    with pytest.raises(StaleEpochError, match="was replaced by epoch 2"):
        harness.do(CommitInterval(key, epoch, (), positions={TopicPartition("t", 0): 10}))
    # Only the target knows whether it was committed: the first plan of the new life asks it.
    left = harness.do(LoadUnfinished("c"))
    assert (left.key.incarnation, left.state) == (1, IntervalState.PLANNED)


def test_assignment_needs_the_lease(harness: Harness) -> None:
    harness.create("c")
    harness.do(TakeLease("c", "one", 60))
    with pytest.raises(StaleEpochError):
        harness.do(RecordAssignment("c", "two", ({},)))


def test_assignment_overtaken_by_stop_shows_no_task(harness: Harness) -> None:
    harness.create("c")
    harness.do(TakeLease("c", "one", 60))
    harness.target(TargetState.STOPPED)
    with pytest.raises(StaleEpochError, match="stopped"):
        harness.do(RecordAssignment("c", "one", ({},)))


def test_target_state_returns_the_one_before(harness: Harness) -> None:
    harness.create("c")
    with harness.database.write() as connection:
        assert connectors.set_target_state(connection, "c", TargetState.PAUSED) is TargetState.STARTED
        assert connectors.set_target_state(connection, "c", TargetState.STOPPED) is TargetState.PAUSED


def test_fatal_failure_stands_until_config_change(harness: Harness) -> None:
    harness.create("c")
    harness.do(TakeLease("c", "one", 60))
    assert not harness.effects.record_failure("c", "two", "Traceback: no", is_retriable=False)
    assert harness.effects.record_failure("c", "one", "Traceback: no", is_retriable=False)
    assert harness.do(LoadConnector("c")).failure == "Traceback: no"
    with harness.database.write() as connection:
        connectors.replace_config(
            connection, connectors.get(connection, "c"), NewConfig(ConnectorType.SINK, {"new": "1"})
        )
    assert harness.do(LoadConnector("c")).failure is None


def test_retriable_failure_does_not_stand(harness: Harness) -> None:
    harness.create("c")
    harness.do(TakeLease("c", "one", 60))
    harness.effects.record_failure("c", "one", "Traceback: no", is_retriable=True)
    assert harness.do(LoadConnector("c")).failure is None


def test_assignment_ends_a_failure(harness: Harness) -> None:
    harness.create("c")
    harness.do(TakeLease("c", "one", 60))
    harness.effects.record_failure("c", "one", "Traceback: no", is_retriable=False)
    harness.do(RecordAssignment("c", "one", ({},)))
    assert harness.do(LoadConnector("c")).failure is None
    assert harness.do(RaiseEpoch("c", "one")) == 1
