"""What shapes a connector's DAG."""

from datetime import UTC, datetime, timedelta

from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors
from connect_core.store.schedules import ScheduledConnector, scheduled_connectors


def create(database: Database, name: str, **config: str) -> None:
    with database.write() as connection:
        connectors.create(connection, name, connectors.NewConfig(ConnectorType.SINK, config), TargetState.STARTED)


def read(database: Database) -> tuple[ScheduledConnector, ...]:
    with database.read() as connection:
        return scheduled_connectors(connection)


def test_schedules_are_continuous_by_default_and_sorted(database: Database) -> None:
    create(database, "b")
    create(database, "a", file="x")
    assert read(database) == tuple(ScheduledConnector(name, ConnectorType.SINK) for name in "ab")


def test_schedules_of_named_connectors(database: Database) -> None:
    for name in "abc":
        create(database, name)
    with database.read() as connection:
        assert [one.name for one in scheduled_connectors(connection, ["c", "a", "unknown"])] == ["a", "c"]
        assert scheduled_connectors(connection, []) == ()


def test_schedule_and_its_traits_are_read(database: Database) -> None:
    traits = {"schedule.retries": "7", "schedule.pool": "etl", "schedule.outlets": "kafka://c/b, file:///a,"}
    create(database, "a", schedule="PT5M", **traits)
    expected = ScheduledConnector("a", ConnectorType.SINK, "PT5M", 7, "etl", ("file:///a", "kafka://c/b"))
    assert read(database) == (expected,)


def test_schedule_of_a_deleted_connector_is_gone(database: Database) -> None:
    create(database, "a")
    with database.write() as connection:
        connectors.delete(connection, "a")
    assert read(database) == ()


def test_missed_runs_are_made_up_for_from_the_creation_on(database: Database) -> None:
    create(database, "a", **{"schedule": "@hourly", "schedule.catchup": "true"})
    since = read(database)[0].catchup_since
    assert since is not None
    assert abs(datetime.now(UTC) - datetime.fromisoformat(since)) < timedelta(minutes=5)
