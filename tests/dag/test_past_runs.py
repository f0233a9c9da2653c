"""Airflow's own past runs of our DAGs: what is dropped, what stays, and how few calls that takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.dag.past_runs import PastRuns
from connect_core.errors import RetriableError
from connect_core.store.retention import Retention
from tests.dag.fake_airflow import FakeAirflow, fake_airflow

pytestmark = pytest.mark.slow

HOUR = 3600.0
DAY = 24 * HOUR
KEPT = Retention(timedelta(days=30), 10)


@pytest.fixture
def airflow() -> Iterator[FakeAirflow]:
    with fake_airflow() as served:
        yield served


@pytest.fixture
def api(airflow: FakeAirflow, tmp_path: Path) -> Iterator[AirflowApi]:
    (tmp_path / "password").write_text("x")
    opened = AirflowApi(ServiceIdentity(airflow.url, "service", tmp_path / "password"))
    yield opened
    opened.close()


def forget(api: AirflowApi, *names: str, seconds: float = 60.0) -> int:
    return PastRuns(api, [HOUSEKEEPING_DAG_ID, *map(dag_id_of, names)], KEPT, seconds).forget()


def left(airflow: FakeAirflow) -> Counter[str]:
    return Counter(run["dag_id"] for run in airflow.runs)


def test_old_runs_go_and_young_ones_stay(airflow: FakeAirflow, api: AirflowApi) -> None:
    for days in (1, 29, 31, 40):
        airflow.add_run("a", "success", days * DAY)
        airflow.add_run("b", "failed", days * DAY)
        airflow.add_run("somebody else's", "success", days * DAY)
    assert forget(api, "a", "b") == 4
    assert left(airflow) == {dag_id_of("a"): 2, dag_id_of("b"): 2, dag_id_of("somebody else's"): 4}


def test_what_has_not_ended_stays_however_old(airflow: FakeAirflow, api: AirflowApi) -> None:
    airflow.add_run("a", "success", 31 * DAY)
    for state in ("running", "queued"):
        # As a run that was cleared: it still shows when it ended before.
        airflow.add_run("a", state, 50 * DAY)
    airflow.add_run("a", "success", 60 * DAY)
    assert forget(api, "a") == 1
    assert [run["state"] for run in airflow.runs] == ["success", "running", "queued"]


def test_newest_run_stays_as_airflow_reckons_from_it(airflow: FakeAirflow, api: AirflowApi) -> None:
    """Were it gone, a monthly connector would run at once for the month before."""
    for days in (31, 62, 93):
        airflow.add_run("monthly", "success", days * DAY)
    assert forget(api, "monthly") == 2
    assert forget(api, "monthly") == 0
    assert [run["dag_run_id"] for run in airflow.runs] == ["0"]


def test_runs_beyond_the_number_go_though_they_are_young(airflow: FakeAirflow, api: AirflowApi) -> None:
    for number in range(250):
        airflow.add_run("busy", "success", number * 60.0)
    airflow.add_run("idle", "success", HOUR)
    assert forget(api, "busy", "idle") == 240
    assert [run["dag_run_id"] for run in airflow.runs] == [*map(str, range(10)), "250"]


def test_many_connectors_take_few_calls_one_at_a_time(airflow: FakeAirflow, api: AirflowApi) -> None:
    names = [f"many-{number}" for number in range(300)]
    for name in names:
        airflow.add_run(name, "success", HOUR)
        airflow.add_run(name, "success", 31 * DAY)
    assert forget(api, *names) == 300
    assert set(left(airflow).values()) == {1}
    assert sum(airflow.asked.values()) < 100
    assert airflow.most_at_once == 1


def test_connector_that_may_not_be_changed_stops_no_other(airflow: FakeAirflow, api: AirflowApi) -> None:
    for name in ("a", "foreign", "z"):
        for hours in range(130):
            airflow.add_run(name, "success", 31 * DAY + hours * HOUR)
    airflow.undeletable.add(dag_id_of("foreign"))
    assert forget(api, "a", "foreign", "z") == 258
    assert left(airflow) == {dag_id_of("a"): 1, dag_id_of("foreign"): 130, dag_id_of("z"): 1}


def test_turn_ends_in_time_and_the_next_goes_on(airflow: FakeAirflow, api: AirflowApi) -> None:
    for number in range(500):
        airflow.add_run("a", "success", 31 * DAY + number)
    airflow.seconds = 0.05
    first = forget(api, "a", seconds=0.3)
    assert 0 < first < 499
    assert first + forget(api, "a") == 499


def test_deaf_airflow_is_an_error_of_this_turn_only(airflow: FakeAirflow, api: AirflowApi) -> None:
    airflow.add_run("a", "success", HOUR)
    with pytest.raises(RetriableError):
        PastRuns(AirflowApi(ServiceIdentity("http://127.0.0.1:1", "u", Path("/dev/null"))), ["x"], KEPT).forget()
    assert forget(api, "a") == 0
