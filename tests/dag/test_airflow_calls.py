"""What many connectors cost Airflow: few calls, four at a time, and no thread a connector."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from connect_core.dag import airflow_client
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.naming import dag_id_of
from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.scheduler import AirflowScheduler, RequestingScheduler
from connect_core.dag.service import RequestService, ServiceScheduler
from connect_core.dag.watcher import Watcher
from connect_core.errors import BadRequestError, IllegalWorkerStateError, NotFoundError, RetriableError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.interval.waits import Check, WaitState
from connect_core.store import Database, connectors, migrate, requests, silences
from tests.dag.fake_airflow import FakeAirflow, fake_airflow
from tests.dag.live import eventually

pytestmark = pytest.mark.slow
MANY = 300
NAMES = [f"many-{number:03}" for number in range(MANY)]
SINK = connectors.NewConfig(ConnectorType.SINK, {})
LONG = 30.0


@pytest.fixture
def airflow() -> Iterator[FakeAirflow]:
    with fake_airflow() as served:
        yield served


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("calls") / "connect.db"
    database = Database(f"sqlite:///{file}", pooled=False)
    migrate(database)
    with database.write() as connection:
        for name in NAMES:
            connectors.create(connection, name, SINK, TargetState.STARTED)
    return file.read_bytes()


@pytest.fixture
def database(migrated: bytes, tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "connect.db"
    file.write_bytes(migrated)
    opened = Database(f"sqlite:///{file}")
    yield opened
    opened.close()


@pytest.fixture
def api(airflow: FakeAirflow, tmp_path: Path) -> Iterator[AirflowApi]:
    password = tmp_path / "password"
    password.write_text("secret")
    made = AirflowApi(ServiceIdentity(airflow.url, "admin", password))
    yield made
    made.close()


@pytest.fixture
def reconciler(database: Database, api: AirflowApi) -> AirflowReconciler:
    return AirflowReconciler(database, api, AirflowScheduler(api), "watcher")


def ask(database: Database, kind: str, names: Sequence[str] = NAMES) -> None:
    for name in names:
        getattr(RequestingScheduler(database), kind)(name)


def unfinished(database: Database) -> int:
    with database.read() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM requests WHERE done_at IS NULL").scalar_one()
    return int(count)


def test_burst_of_deploys_takes_one_parse_and_a_few_lists(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    airflow.stored = set(NAMES)
    ask(database, "deploy")
    threads = threading.active_count()
    reconciler.serve()
    assert unfinished(database) == 0
    assert airflow.asked["PUT parseDagFile"] == 1
    assert airflow.asked["GET dags"] <= MANY / 50 + 3
    assert airflow.most_at_once == 1
    assert threading.active_count() <= threads + 2, "a thread a request is what stopped Airflow"


def test_deploy_of_a_connector_the_parse_did_not_see_yet_asks_for_another(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    airflow.stored = set(NAMES[1:])
    ask(database, "deploy", NAMES[:2])
    reconciler.serve()
    assert airflow.asked["PUT parseDagFile"] == 2
    assert unfinished(database) == 1


def test_burst_of_pauses_and_resumes_takes_a_call_for_fifty(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES))
    with database.write() as connection:
        for name in NAMES[:200]:
            connectors.set_target_state(connection, name, TargetState.PAUSED)
    ask(database, "pause")
    reconciler.serve()
    assert airflow.paused == set(map(dag_id_of, NAMES[:200]))
    assert airflow.asked["PATCH dags"] == MANY / 50
    assert unfinished(database) == 0


def test_backfill_names_the_runs_and_says_what_airflow_refuses(airflow: FakeAirflow, api: AirflowApi) -> None:
    name, first, last = NAMES[0], datetime(2026, 3, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, 3, tzinfo=UTC)
    scheduler = AirflowScheduler(api)
    with pytest.raises(NotFoundError):
        scheduler.backfill(name, first, last)
    airflow.dags.add(dag_id_of(name))
    scheduler.backfill(name, first, last)
    (asked,) = airflow.backfills
    assert (asked["from_date"], asked["to_date"]) == ("2026-03-01T01:00:00+00:00", "2026-03-01T03:00:00+00:00")
    assert (asked["reprocess_behavior"], asked["max_active_runs"]) == ("completed", 1)
    with pytest.raises(IllegalWorkerStateError, match="is running in Airflow: wait for its end"):
        scheduler.backfill(name, first, last)
    with pytest.raises(BadRequestError, match="future dates"):
        scheduler.backfill(name, *[datetime(9000, 1, 1, tzinfo=UTC)] * 2)


def test_requested_backfills_are_carried_out_once_and_refusals_are_kept(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    moment = datetime(2026, 3, 1, 1, tzinfo=UTC)
    airflow.dags.add(dag_id_of(NAMES[0]))
    for name in (NAMES[0], NAMES[0], NAMES[1]):
        RequestingScheduler(database, "jo").backfill(name, moment, moment)
    reconciler.serve()
    assert [one["dag_id"] for one in airflow.backfills] == [dag_id_of(NAMES[0])]
    assert unfinished(database) == 1, "the DAG that is not there yet may come"
    with database.read() as connection:
        found = requests.latest(connection, "backfill", NAMES[0])
        assert requests.latest(connection, "backfill", NAMES[2]) is None
    assert found is not None
    assert (found.asked.actor, found.done_at is not None) == ("jo", True)
    assert found.error == "A backfill of this connector is running in Airflow: wait for its end"


def test_pause_of_a_dag_that_is_not_there_yet_waits_alone(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES[1:]))
    ask(database, "resume")
    reconciler.serve()
    assert unfinished(database) == 1


def test_burst_of_removals_is_done_some_at_a_time(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler
) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES))
    airflow.running = {dag_id_of(NAMES[0])}
    with database.write() as connection:
        for name in NAMES:
            connectors.delete(connection, name)
    ask(database, "remove")
    *_, removals, _ = reconciler.services()
    removals()
    # The one whose run has not ended stays.
    assert unfinished(database) == MANY - 199
    for _ in range(MANY // 200 + 1):
        removals()
    assert airflow.dags == {"connect_housekeeping", dag_id_of(NAMES[0])}
    assert unfinished(database) == 1
    assert airflow.most_at_once <= airflow_client.REQUESTS_AT_ONCE


def test_observing_many_connectors_takes_one_call(airflow: FakeAirflow, reconciler: AirflowReconciler) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES))
    airflow.paused = set(map(dag_id_of, NAMES))
    reconciler.observe()
    assert airflow.asked["GET dags"] == 1
    airflow.paused = set()
    reconciler.observe()
    calls = {kind: count for kind, count in airflow.asked.items() if not kind.startswith("POST auth")}
    assert calls == {"GET dags": 3, "PUT parseDagFile": 1}, "the file of all is looked up, and parsed once"


def test_holds_of_many_connectors_take_two_calls_and_another_where_some_fail(
    airflow: FakeAirflow, reconciler: AirflowReconciler
) -> None:
    assert reconciler.holds(NAMES) == {}
    assert airflow.asked["POST dags/dagRuns/list"] == 2
    for name, states in {NAMES[0]: ("failed", "failed"), NAMES[1]: ("success", "failed")}.items():
        for state in states:
            airflow.add_run(name, state, 1.0)
    found = reconciler.holds(NAMES)
    assert set(found) == {NAMES[0]}
    assert 18 < found[NAMES[0]] < 20
    assert airflow.asked["POST dags/dagRuns/list"] == 5


def test_at_most_four_requests_are_under_way_in_the_process(airflow: FakeAirflow, tmp_path: Path) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES))
    airflow.seconds = 0.05
    (tmp_path / "password").write_text("secret")
    clients = [AirflowApi(ServiceIdentity(airflow.url, "admin", tmp_path / "password")) for _ in range(3)]
    with ThreadPoolExecutor(30) as threads:
        list(threads.map(lambda number: clients[number % 3].trigger(dag_id_of(NAMES[number])), range(60)))
    assert airflow.asked["POST dags/dagRuns"] == 60
    assert airflow.most_at_once == airflow_client.REQUESTS_AT_ONCE


class Data:
    """Every connector but those that fail has data."""

    def wait_states(self, names: Sequence[str]) -> Mapping[str, WaitState]:
        """All are sinks."""
        return dict.fromkeys(names, WaitState(Check.SINK))

    def sinks_with_data(self, names: Sequence[str]) -> Sequence[str]:
        """All of them."""
        return names

    def assign(self, connector: str) -> bool:
        """None lacks tasks."""
        return False

    def source_has_data(self, connector: str) -> bool:
        """There is none."""
        return False


def test_data_moves_and_the_silence_is_told_while_airflow_never_answers(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    reconciler.observe()
    airflow.is_silent = True
    ask(database, "deploy")

    async def run() -> None:
        watcher = Watcher(Data(), reconciler, 0.05, MANY)
        work = asyncio.create_task(watcher.work())
        try:
            waits = [asyncio.create_task(watcher.wait(name)) for name in NAMES]
            await asyncio.wait_for(asyncio.gather(*waits), LONG)
            assert airflow.most_at_once <= airflow_client.REQUESTS_AT_ONCE
        finally:
            work.cancel()

    monkeypatch.setattr(reconciler._contact._client._client, "timeout", httpx.Timeout(5.0))
    asyncio.run(run())
    with pytest.raises(RetriableError, match="does not respond"):
        reconciler.observe()
    with database.read() as connection:
        (told,) = silences.list_silences(connection)
    assert told.observer == "watcher"
    assert told.reason
    airflow.is_silent = False
    airflow.woken.set()
    reconciler.observe()
    with database.read() as connection:
        assert silences.list_silences(connection) == []


def test_rest_answers_at_once_while_airflow_does_not(
    airflow: FakeAirflow, database: Database, reconciler: AirflowReconciler, api: AirflowApi
) -> None:
    airflow.dags |= set(map(dag_id_of, NAMES))
    airflow.is_silent = True
    service = RequestService(reconciler)
    service.start()
    scheduler = ServiceScheduler(AirflowScheduler(api), RequestingScheduler(database), service)
    for name in NAMES:
        scheduler.resume(name)
        scheduler.deploy(name)
    assert airflow.most_at_once <= len(reconciler.services())
    assert unfinished(database) == 2 * MANY
    airflow.stored = set(NAMES)
    airflow.is_silent = False
    airflow.woken.set()
    eventually(lambda: unfinished(database) == 0 or None)
