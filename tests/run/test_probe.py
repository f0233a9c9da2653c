"""The watcher's look at many connectors at once: what is wrong with one stays that one's affair."""

from __future__ import annotations

from typing import Any, cast

import pytest

from connect_core.api.records import TopicPartition
from connect_core.configs.providers import make_providers
from connect_core.dag.factory import connector_dags
from connect_core.dag.naming import dag_id_of
from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.effects import RecordAssignment, TakeLease
from connect_core.interval.values import ConnectorType, PartitionEnds, TargetState
from connect_core.interval.waits import Check
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.partition_ends import LeaderChangingError
from connect_core.run.probe import ConnectorProbe
from connect_core.store import Database, connectors
from connect_core.store.connectors import NewConfig
from connect_core.store.schedules import scheduled_connectors
from connect_core.store.statuses import load_facts
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SINK, Driver, Harness, worker

pytestmark = pytest.mark.slow

__all__ = ["harness", "sqlite_template"]

PROVIDERS = {
    "config.providers": "env",
    "config.providers.env.class": "EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": "TASKS",
}


class Ends:
    """Topics with one record each; brokers that refuse to speak of some."""

    def __init__(self) -> None:
        self.refusals: dict[str, ConnectError] = {}

    def partition_ends(self, topics: tuple[str, ...], regex: str | None = None) -> dict[Any, Any]:
        for topic in topics:
            if topic in self.refusals:
                raise self.refusals[topic]
        return {TopicPartition(topic, 0): PartitionEnds("id", 0, 1, 1) for topic in topics}


@pytest.fixture
def ends() -> Ends:
    return Ends()


@pytest.fixture
def probe(harness: Harness, ends: Ends) -> ConnectorProbe:
    providers = make_providers(PROVIDERS, {"TASKS": "2"})
    return ConnectorProbe(
        worker(**PROVIDERS).with_standalone_id("test"), harness.database, cast(KafkaAdmin, ends), providers
    )


def store(database: Database, name: str, **more: str) -> None:
    config = {**SINK, "name": name, **{key.replace("_", "."): value for key, value in more.items()}}
    with database.write() as connection:
        connectors.create(connection, name, NewConfig(ConnectorType.SINK, config), TargetState.STARTED)
    driver = Driver(database, name)
    state = driver.do(TakeLease(name, "driver", 60))
    driver.do(RecordAssignment(name, "driver", (config,), state.config_version))


def test_reference_in_a_number_is_resolved(harness: Harness, probe: ConnectorProbe) -> None:
    store(harness.database, "a", tasks_max="${env:TASKS}")
    store(harness.database, "b")
    assert {name: one.check for name, one in probe.wait_states(["a", "b"]).items()} == {
        "a": Check.SINK,
        "b": Check.SINK,
    }
    assert sorted(probe.sinks_with_data(["a", "b"])) == ["a", "b"]


@pytest.mark.parametrize("broken", [{"tasks_max": "${env:SECRET}"}, {"connector_class": "Gone"}, {"tasks_max": "x"}])
def test_connector_that_cannot_be_read_is_left_to_its_run(
    harness: Harness, probe: ConnectorProbe, broken: dict[str, str]
) -> None:
    store(harness.database, "broken", **broken)
    store(harness.database, "well")
    assert probe.wait_states(["broken", "well"])["well"].check is Check.SINK
    assert sorted(probe.sinks_with_data(["broken", "well"])) == ["broken", "well"]


def test_topic_nobody_may_read_holds_up_nobody_else(harness: Harness, probe: ConnectorProbe, ends: Ends) -> None:
    ends.refusals = {"secret": ConnectError("not allowed"), "going": LeaderChangingError("no leader")}
    for topic in ("secret", "going", "lines"):
        store(harness.database, topic, topics=topic)
    assert sorted(probe.sinks_with_data(["going", "lines", "secret"])) == ["lines", "secret"]


def test_brokers_that_are_down_are_asked_once(harness: Harness, probe: ConnectorProbe, ends: Ends) -> None:
    ends.refusals = {"lines": RetriableError("no broker responds")}
    store(harness.database, "a")
    with pytest.raises(RetriableError):
        probe.sinks_with_data(["a"])


def create(database: Database, name: str, **more: str) -> None:
    config = {**SINK, "name": name, **{key.replace("_", "."): value for key, value in more.items()}}
    with database.write() as connection:
        connectors.create(connection, name, NewConfig(ConnectorType.SINK, config), TargetState.STARTED)


def assigned(database: Database, name: str) -> int | None:
    with database.read() as connection:
        return load_facts(connection, [name])[0].task_count


def test_tasks_of_a_new_connector_are_assigned_without_a_run(harness: Harness, probe: ConnectorProbe) -> None:
    create(harness.database, "new", tasks_max="3")
    assert probe.wait_states(["new"])["new"].check is Check.ASSIGN
    assert probe.assign("new") is False
    assert assigned(harness.database, "new") == 3
    assert probe.wait_states(["new"])["new"].check is Check.SINK
    # Whoever comes next may take it: nothing is held, and no epoch was raised.
    state = Driver(harness.database, "new").do(TakeLease("new", "run-1 driver", 60))
    assert (state.epoch, state.sequence) == (0, 0)
    # Now a run has it, which assigns by itself.
    with harness.database.write() as connection:
        connectors.replace_config(
            connection, connectors.get(connection, "new"), NewConfig(ConnectorType.SINK, {**SINK, "tasks.max": "2"})
        )
    assert probe.wait_states(["new"])["new"].check is Check.ASSIGN
    assert probe.assign("new") is False
    assert assigned(harness.database, "new") == 3


def test_where_a_plan_fixes_the_start_or_ends_an_interval_the_run_assigns(
    harness: Harness, probe: ConnectorProbe
) -> None:
    create(harness.database, "latest", consumer_override_auto_offset_reset="latest")
    assert probe.assign("latest") is True
    assert assigned(harness.database, "latest") is None
    store(harness.database, "unfinished")
    Driver(harness.database, "unfinished").begin()
    assert probe.wait_states(["unfinished"])["unfinished"].check is Check.NOW


def test_assignment_that_fails_is_left_to_a_run_and_holds_nothing(harness: Harness, probe: ConnectorProbe) -> None:
    create(harness.database, "broken", connector_class="Gone")
    with pytest.raises(ConnectError, match="Gone"):
        probe.assign("broken")
    assert assigned(harness.database, "broken") is None
    assert Driver(harness.database, "broken").do(TakeLease("broken", "run-1 driver", 60)) is not None


@pytest.mark.parametrize(
    "schedule",
    [
        {"schedule": "PT99999999999999999H"},
        {"schedule": "²"},
        {"schedule_retries": "²"},
        {"schedule_retries": "9" * 5000},
        {"schedule_outlets": "http://["},
    ],
)
def test_schedule_that_makes_no_sense_leaves_the_dags_of_others(harness: Harness, schedule: dict[str, str]) -> None:
    store(harness.database, "broken", **schedule)
    store(harness.database, "well")
    with harness.database.read() as connection:
        found = scheduled_connectors(connection)
    dags = connector_dags(found)
    schedule_found: Any = dags[dag_id_of("well")].schedule
    assert schedule_found.name == f"work-{dag_id_of('well')}"
    assert dag_id_of("broken") in dags
