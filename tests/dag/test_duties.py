"""Pause flags mirrored, requests carried out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connect_core.dag.airflow_api import DagRun
from connect_core.dag.duties import AirflowDuties
from connect_core.dag.naming import dag_id_of
from connect_core.dag.scheduler import RequestingScheduler
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, dag_states, migrate, requests

SINK = connectors.NewConfig(ConnectorType.SINK, {})


class Airflow:
    """What Airflow would answer."""

    def __init__(self) -> None:
        self.paused: set[str] = set()
        self.queued: list[DagRun] = []
        self.runs: list[DagRun] = []
        self.done: list[tuple[str, str]] = []
        self.errors: list[ConnectError] = []

    def paused_dags(self) -> frozenset[str]:
        """The paused ones."""
        return frozenset(map(dag_id_of, self.paused))

    def queued_runs(self) -> tuple[DagRun, ...]:
        """The queued ones."""
        return tuple(self.queued)

    def latest_runs(self, dag_id: str, limit: int = 1) -> tuple[DagRun, ...]:
        """The newest ones."""
        return tuple(self.runs[:limit])

    def __getattr__(self, act: str) -> Any:
        def carry_out(connector: str) -> None:
            self.done.append((act, connector))
            if self.errors:
                raise self.errors.pop(0)

        return carry_out


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("duties") / "connect.db"
    database = Database(f"sqlite:///{file}", pooled=False)
    migrate(database)
    return file.read_bytes()


@pytest.fixture
def database(migrated: bytes, tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "connect.db"
    file.write_bytes(migrated)
    opened = Database(f"sqlite:///{file}")
    with opened.write() as connection:
        for name in ("a", "b"):
            connectors.create(connection, name, SINK, TargetState.STARTED)
    yield opened
    opened.close()


@pytest.fixture
def airflow() -> Airflow:
    return Airflow()


@pytest.fixture
def duties(database: Database, airflow: Airflow) -> AirflowDuties:
    return AirflowDuties(database, airflow, airflow)  # type: ignore[arg-type]


def run(name: str, state: str = "queued", run_type: str = "manual", since: float | None = None) -> DagRun:
    return DagRun(dag_id_of(name), "id", run_type, state, since)


def mirror(database: Database) -> dict[str, bool]:
    with database.read() as connection:
        return {dag.connector: dag.is_paused for dag in dag_states.list_dags(connection)}


def target(database: Database, name: str) -> TargetState:
    with database.read() as connection:
        return connectors.get(connection, name).target_state


def set_target(database: Database, name: str, state: TargetState) -> None:
    with database.write() as connection:
        connectors.set_target_state(connection, name, state)


def test_observe_mirrors_pause_flags(database: Database, airflow: Airflow, duties: AirflowDuties) -> None:
    airflow.paused = {"a"}
    duties.observe()
    assert mirror(database) == {"a": True, "b": False}
    airflow.paused = set()
    duties.observe()
    assert mirror(database) == {"a": False, "b": False}


def test_observe_returns_dags_whose_runs_wait_for_another(airflow: Airflow, duties: AirflowDuties) -> None:
    airflow.queued = [run("a"), run("b", run_type="backfill")]
    assert set(duties.observe()) == {dag_id_of("a")}
    airflow.paused = {"a"}
    assert set(duties.observe()) == set()


def test_unpausing_in_airflow_resumes_a_paused_connector(
    database: Database, airflow: Airflow, duties: AirflowDuties
) -> None:
    set_target(database, "a", TargetState.PAUSED)
    duties.observe()
    assert target(database, "a") is TargetState.PAUSED
    airflow.paused = {"a"}
    duties.observe()
    assert target(database, "a") is TargetState.PAUSED
    airflow.paused = set()
    duties.observe()
    assert target(database, "a") is TargetState.STARTED


def test_pause_that_airflow_does_not_show_yet_is_not_taken_back(
    database: Database, airflow: Airflow, duties: AirflowDuties
) -> None:
    duties.observe()
    set_target(database, "a", TargetState.PAUSED)
    with database.write() as connection:
        dag_states.set_paused(connection, "a", True)
    duties.observe()
    assert target(database, "a") is TargetState.PAUSED


def test_unpausing_in_airflow_does_not_start_a_stopped_connector(
    database: Database, airflow: Airflow, duties: AirflowDuties
) -> None:
    set_target(database, "a", TargetState.STOPPED)
    airflow.paused = {"a"}
    duties.observe()
    airflow.paused = set()
    duties.observe()
    assert target(database, "a") is TargetState.STOPPED


@pytest.mark.parametrize(
    ("runs", "least", "most"),
    [
        ([], 0, 0),
        ([run("a", "running"), run("a", "success", since=1)], 0, 0),
        ([run("a", "failed", since=3)], 6, 7),
        ([run("a", "failed", since=300)], 0, 0),
        ([run("a", "running"), *[run("a", "failed", since=0)] * 3, run("a", "success", since=9)], 39, 40),
        ([run("a", "failed", since=0)] * 9, 599, 600),
    ],
)
def test_connector_is_left_alone_longer_the_more_runs_failed(
    airflow: Airflow, duties: AirflowDuties, runs: list[DagRun], least: float, most: float
) -> None:
    airflow.runs = runs
    assert least <= duties.hold_seconds("a") <= most


def ask(database: Database, kind: str) -> None:
    getattr(RequestingScheduler(database, "alice"), kind)("a")


def waiting(database: Database) -> list[requests.Claimed]:
    with database.write() as connection:
        return requests.claim(connection, "test", 0.0)


@pytest.mark.parametrize("kind", ["deploy", "remove", "pause", "resume", "trigger", "retry"])
def test_request_is_carried_out_once(database: Database, airflow: Airflow, duties: AirflowDuties, kind: str) -> None:
    set_target(database, "a", TargetState.PAUSED if kind == "pause" else TargetState.STARTED)
    ask(database, kind)
    duties.serve()
    duties.serve()
    assert airflow.done == [(kind, "a")]
    assert waiting(database) == []


def test_pause_of_a_new_connector_is_given_back_until_its_dag_is_there(
    database: Database, airflow: Airflow, duties: AirflowDuties
) -> None:
    set_target(database, "a", TargetState.PAUSED)
    ask(database, "pause")
    airflow.errors = [NotFoundError("no such DAG yet")]
    duties.serve()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT done_at FROM requests").scalar_one() is None


def test_late_pause_follows_what_is_wanted_by_now(database: Database, airflow: Airflow, duties: AirflowDuties) -> None:
    ask(database, "pause")
    duties.serve()
    assert airflow.done == [("resume", "a")]


@pytest.mark.parametrize("kind", ["deploy", "pause", "resume", "trigger", "retry"])
def test_request_for_a_deleted_connector_is_dropped(
    database: Database, airflow: Airflow, duties: AirflowDuties, kind: str
) -> None:
    ask(database, kind)
    with database.write() as connection:
        connectors.delete(connection, "a")
    duties.serve()
    assert airflow.done == []
    assert waiting(database) == []


def test_request_that_may_succeed_later_is_given_back(
    database: Database, airflow: Airflow, duties: AirflowDuties
) -> None:
    ask(database, "pause")
    airflow.errors = [RetriableError("Airflow is down")]
    duties.serve()
    with database.read() as connection:
        row = connection.exec_driver_sql("SELECT done_at, error, tries FROM requests").one()
    assert tuple(row) == (None, "Airflow is down", 1)


def test_request_that_never_will_succeed_says_why(database: Database, airflow: Airflow, duties: AirflowDuties) -> None:
    ask(database, "pause")
    airflow.errors = [ConnectError("no rights")]
    duties.serve()
    with database.read() as connection:
        row = connection.exec_driver_sql("SELECT done_at IS NOT NULL, error FROM requests").one()
    assert tuple(row) == (1, "no rights")


def test_request_of_another_version_is_refused(database: Database, duties: AirflowDuties) -> None:
    with database.write() as connection:
        requests.add(connection, requests.Asked("dance", "a"))
    duties.serve()
    with database.read() as connection:
        assert "dance" in connection.exec_driver_sql("SELECT error FROM requests").scalar_one()
