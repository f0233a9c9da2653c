"""Pause flags mirrored, requests carried out."""

from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from connect_core.dag.airflow_api import DagFile, DagRun, RunFilter
from connect_core.dag.airflow_client import Silence
from connect_core.dag.naming import dag_id_of
from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.scheduler import Outcomes, RequestingScheduler
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, dag_states, migrate, requests, silences

pytestmark = pytest.mark.slow

SINK = connectors.NewConfig(ConnectorType.SINK, {})


class Airflow:
    """What Airflow would answer."""

    def __init__(self) -> None:
        self.paused: set[str] = set()
        self.history: list[DagRun] = []
        self.done: list[tuple[str, str]] = []
        self.errors: list[Exception] = []
        self.silence: Silence | None = None

    def paused_dags(self) -> frozenset[str]:
        """The paused ones."""
        return frozenset(map(dag_id_of, self.paused))

    def runs(self, wanted: RunFilter) -> Iterator[DagRun]:
        """The runs wanted, the newest first."""
        for one in self.history:
            is_recent = wanted.ended_after is None or one.seconds_since_end is not None
            if one.dag_id in wanted.dag_ids and one.state in wanted.states and is_recent:
                yield one

    def file_of(self, dag_id: str) -> DagFile:
        """The file of all."""
        return DagFile("token", "then")

    def reparse(self, file: DagFile) -> None:
        """Note it."""
        self.done.append(("parse", file.token))

    def deploy_all(self, names: Collection[str]) -> Outcomes:
        """Note it."""
        return self._note("deploy", names)

    def remove_all(self, names: Collection[str], is_stored: Callable[[str], bool]) -> Outcomes:
        """Note it, of those that are gone."""
        return self._note("remove", [name for name in names if not is_stored(name)])

    def pause_all(self, names: Collection[str], is_paused: bool) -> Outcomes:
        """Note it."""
        return self._note("pause" if is_paused else "resume", names)

    def each(self, names: Collection[str], act: Callable[[str], object]) -> Outcomes:
        """Carry it out."""
        return {name: act(name) for name in names}  # type: ignore[misc]

    def trigger(self, name: str) -> ConnectError | None:
        """Note it."""
        return self._note("trigger", [name]).get(name)

    def retry(self, name: str) -> ConnectError | None:
        """Note it."""
        return self._note("retry", [name]).get(name)

    def _note(self, act: str, names: Collection[str]) -> Outcomes:
        self.done += [(act, name) for name in names]
        error = self.errors.pop(0) if names and self.errors else None
        if error is not None and not isinstance(error, ConnectError):
            raise error
        return dict.fromkeys(names, error)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("reconciler") / "connect.db"
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
def reconciler(database: Database, airflow: Airflow) -> AirflowReconciler:
    return AirflowReconciler(database, airflow, airflow, "watcher")  # type: ignore[arg-type]


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


def test_observe_mirrors_pause_flags(database: Database, airflow: Airflow, reconciler: AirflowReconciler) -> None:
    airflow.paused = {"a"}
    reconciler.observe()
    assert mirror(database) == {"a": True, "b": False}
    airflow.paused = set()
    reconciler.observe()
    assert mirror(database) == {"a": False, "b": False}


def test_unpaused_dag_has_its_file_parsed_for_its_watch(airflow: Airflow, reconciler: AirflowReconciler) -> None:
    airflow.paused = {"a", "b"}
    reconciler.observe()
    reconciler.observe()
    assert airflow.done == []
    airflow.paused = {"b"}
    reconciler.observe()
    reconciler.observe()
    assert airflow.done == [("parse", "token")]


def test_unpausing_in_airflow_resumes_a_paused_connector(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    set_target(database, "a", TargetState.PAUSED)
    reconciler.observe()
    assert target(database, "a") is TargetState.PAUSED
    airflow.paused = {"a"}
    reconciler.observe()
    assert target(database, "a") is TargetState.PAUSED
    airflow.paused = set()
    reconciler.observe()
    assert target(database, "a") is TargetState.STARTED


def test_pause_that_airflow_does_not_show_yet_is_not_taken_back(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    reconciler.observe()
    set_target(database, "a", TargetState.PAUSED)
    with database.write() as connection:
        dag_states.set_paused(connection, "a", True)
    reconciler.observe()
    assert target(database, "a") is TargetState.PAUSED


def test_unpausing_in_airflow_does_not_start_a_stopped_connector(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    set_target(database, "a", TargetState.STOPPED)
    airflow.paused = {"a"}
    reconciler.observe()
    airflow.paused = set()
    reconciler.observe()
    assert target(database, "a") is TargetState.STOPPED


@pytest.mark.parametrize(
    ("runs", "least", "most"),
    [
        ([], 0, 0),
        ([run("a", "running"), run("a", "success", since=1)], 5, 5),
        ([run("a", "failed", since=3)], 6, 7),
        ([run("a", "failed", since=300)], 0, 0),
        ([run("a", "running"), *[run("a", "failed", since=0)] * 3, run("a", "success", since=9)], 39, 40),
        ([run("a", "failed", since=0)] * 9, 599, 600),
    ],
)
def test_connector_is_left_alone_longer_the_more_runs_failed(
    airflow: Airflow, reconciler: AirflowReconciler, runs: list[DagRun], least: float, most: float
) -> None:
    airflow.history = runs
    assert least <= reconciler.holds(["a", "b"]).get("a", 0.0) <= most
    assert reconciler.holds(["b"]) == {}


def ask(database: Database, kind: str, name: str = "a") -> None:
    getattr(RequestingScheduler(database, "alice"), kind)(name)


def waiting(database: Database) -> list[requests.Claimed]:
    with database.write() as connection:
        return requests.claim(connection, "test", 0.0)


@pytest.mark.parametrize("kind", ["deploy", "remove", "pause", "resume", "trigger", "retry"])
def test_request_is_carried_out_once(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler, kind: str
) -> None:
    set_target(database, "a", TargetState.PAUSED if kind == "pause" else TargetState.STARTED)
    if kind == "remove":
        with database.write() as connection:
            connectors.delete(connection, "a")
    ask(database, kind)
    reconciler.serve()
    reconciler.serve()
    assert airflow.done == [(kind, "a")]
    assert waiting(database) == []


def test_pause_of_a_new_connector_is_given_back_until_its_dag_is_there(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    set_target(database, "a", TargetState.PAUSED)
    ask(database, "pause")
    airflow.errors = [NotFoundError("no such DAG yet")]
    reconciler.serve()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT done_at FROM requests").scalar_one() is None


def test_late_pause_follows_what_is_wanted_by_now(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    ask(database, "pause")
    reconciler.serve()
    assert airflow.done == [("resume", "a")]


@pytest.mark.parametrize("kind", ["deploy", "pause", "resume", "trigger", "retry"])
def test_request_for_a_deleted_connector_is_dropped(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler, kind: str
) -> None:
    ask(database, kind)
    with database.write() as connection:
        connectors.delete(connection, "a")
    reconciler.serve()
    assert airflow.done == []
    assert waiting(database) == []


def test_request_that_may_succeed_later_is_given_back(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    ask(database, "pause")
    airflow.errors = [RetriableError("Airflow is down")]
    reconciler.serve()
    with database.read() as connection:
        row = connection.exec_driver_sql("SELECT done_at, error, tries FROM requests").one()
    assert tuple(row) == (None, "Airflow is down", 1)


def test_request_that_never_will_succeed_says_why(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    ask(database, "pause")
    airflow.errors = [ConnectError("no rights")]
    reconciler.serve()
    with database.read() as connection:
        row = connection.exec_driver_sql("SELECT done_at IS NOT NULL, error FROM requests").one()
    assert tuple(row) == (1, "no rights")


def test_request_of_another_version_is_refused(database: Database, reconciler: AirflowReconciler) -> None:
    with database.write() as connection:
        requests.add(connection, requests.Asked("dance", "a"))
    reconciler.serve()
    with database.read() as connection:
        assert "another version" in connection.exec_driver_sql("SELECT error FROM requests").scalar_one()


def test_dag_of_a_connector_created_again_is_not_removed(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    ask(database, "remove")
    reconciler.serve()
    assert airflow.done == []
    assert waiting(database) == []


def test_outage_counts_out_no_request(database: Database, airflow: Airflow, reconciler: AirflowReconciler) -> None:
    ask(database, "deploy")
    for _ in range(30):
        airflow.errors = [RetriableError("Airflow is down")]
        reconciler.serve()
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE requests SET taken_until = NULL")
    reconciler.serve()
    assert len(airflow.done) == 31
    assert waiting(database) == []


def test_error_nobody_foresaw_ends_no_other_request(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    ask(database, "trigger")
    ask(database, "deploy", "b")
    airflow.errors = [ZeroDivisionError("oops")]
    reconciler.serve()
    assert airflow.done == [("deploy", "b"), ("trigger", "a")]
    with database.read() as connection:
        error = connection.exec_driver_sql("SELECT error FROM requests WHERE done_at IS NULL").scalar_one()
    assert "oops" in error


def test_burst_of_deploys_holds_up_no_pause(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    set_target(database, "b", TargetState.PAUSED)
    for _ in range(300):
        ask(database, "deploy")
    ask(database, "pause", "b")
    acts, deploys, *_ = reconciler.services()
    acts()
    assert airflow.done == [("pause", "b")]
    deploys()
    assert airflow.done[1:] == [("deploy", "a")]
    assert waiting(database) == []


def test_silence_of_airflow_is_told_and_taken_back(
    database: Database, airflow: Airflow, reconciler: AirflowReconciler
) -> None:
    since = datetime.now(UTC) - timedelta(seconds=90)
    airflow.silence = Silence(since, "ReadTimeout")
    reconciler.observe()
    with database.read() as connection:
        (told,) = silences.list_silences(connection)
    assert (told.observer, told.reason) == ("watcher", "ReadTimeout")
    assert abs((told.since - since).total_seconds()) < 1
    airflow.silence = None
    reconciler.observe()
    with database.read() as connection:
        assert silences.list_silences(connection) == []
