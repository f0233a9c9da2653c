"""An hourly export on real Kafka, Spark and Airflow, and the DAG that starts on each finished hour."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from confluent_kafka import Producer

from connect_core.dag.naming import dag_id_of
from connect_core.dev.stack import Stack
from connect_core.errors import IllegalWorkerStateError
from connect_core.herder import offsets
from connect_core.herder.backfills import start_backfill
from connect_core.herder.slot_calendar import SlotPeriod, get_calendar
from connect_core.herder.verification import verify
from connect_core.interval.values import IntervalState
from connect_core.store.interval_history import PastInterval
from tests.deployments.stack import Deployments
from tests.integration.deployment import Deployment, eventually
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
EXAMPLE = json.loads((ROOT / "config/hourly/orders-hourly.json").read_text())
NAME, COUNTS = EXAMPLE["name"], "hourly_counts"


@pytest.fixture
def stack(deployments: Deployments, monkeypatch: pytest.MonkeyPatch) -> Stack:
    for name, value in deployments.stack.environment().items():
        monkeypatch.setenv(name, value)
    return deployments.stack


def write(stack: Stack, *moments: datetime) -> None:
    """Write a record of each time, round two partitions."""
    producer = Producer({"bootstrap.servers": stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]})
    for number, moment in enumerate(moments):
        value = json.dumps({"at": moment.isoformat()}).encode()
        producer.produce("orders", value, partition=number % 2, timestamp=int(moment.timestamp() * 1000))
    assert producer.flush(30) == 0


def committed(deployment: Deployment) -> list[PastInterval]:
    return [one for one in deployment.intervals(NAME) if one.row.state is IntervalState.COMMITTED]


def counted(deployment: Deployment) -> list[Any]:
    """Return what the finished runs of the example's DAG have counted, the oldest first."""
    runs = sorted(deployment.airflow.latest_runs(COUNTS, 20), key=lambda run: run.run_id)
    assert not [run for run in runs if run.state == "failed"], runs
    found = []
    for run in runs:
        if run.state == "success":
            place = f"/dags/{COUNTS}/dagRuns/{quote(run.run_id, safe='')}/taskInstances/count/xcomEntries/return_value"
            value = deployment.airflow.call("GET", place)["value"]
            found += json.loads(value) if isinstance(value, str) else value
    return found


def inodes(home: Path) -> dict[Path, int]:
    """Return the files of data, and which ones they are."""
    return {place: place.stat().st_ino for place in home.rglob("*.parquet")}


def by_calendar(deployment: Deployment, dag_id: str, first: datetime, last: datetime) -> None:
    """Ask for a backfill as the calendar on a connector's page does, and be refused another meanwhile."""
    asked = deployment.herder, NAME, first - timedelta(hours=1), last
    assert start_backfill(*asked).slots == 2
    with pytest.raises(IllegalWorkerStateError, match=r"is running in Airflow|is exporting|is not finished"):
        start_backfill(*asked)


def slots(deployment: Deployment, full: datetime) -> list[tuple[str, bool]]:
    """Return the states of the two hours before a full one, as the calendar shows them, and which were done again."""
    found = get_calendar(deployment.herder, NAME, SlotPeriod(full - timedelta(hours=2), full)).slots
    return [(slot.state.value, slot.exported_again_at is not None) for slot in found]


def by_command(deployment: Deployment, dag_id: str, first: datetime, last: datetime) -> None:
    """Ask for a backfill by ``airflow backfill create``."""
    asked = {"dag-id": dag_id, "from-date": first.isoformat(), "to-date": last.isoformat(), "max-active-runs": "2"}
    options = [
        text for key, value in {**asked, "reprocess-behavior": "completed"}.items() for text in (f"--{key}", value)
    ]
    command = [sys.executable, "-m", "airflow", "backfill", "create", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def backfill(
    deployment: Deployment, first: datetime, last: datetime, ask: Callable[..., None] = by_calendar
) -> list[str]:
    """Have Airflow carry out the runs of a range of times, all of them again → how each ended."""
    dag_id, call = dag_id_of(NAME), deployment.airflow.call
    ask(deployment, dag_id, first, last)
    newest = f"/backfills?dag_id={dag_id}&order_by=-id&limit=1"
    eventually(lambda: call("GET", newest)["backfills"][0], lambda one: one["completed_at"] is not None, 180)
    runs = call("GET", f"/dags/{dag_id}/dagRuns?run_type=backfill&order_by=-run_after&limit=2")["dag_runs"]
    assert {run["state"] for run in runs} == {"success"}, runs
    places = [f"/dags/{dag_id}/dagRuns/{quote(run['dag_run_id'], safe='')}/taskInstances/run" for run in runs]
    values = [call("GET", f"{place}/xcomEntries/return_value")["value"] for place in places]
    return sorted((json.loads(one) if isinstance(one, str) else one)["status"] for one in values)


def _with_minutes_left() -> datetime:
    """Return the time, in an hour that does not end during the test."""
    now = datetime.now(UTC)
    if now.minute >= 56:
        time.sleep(3605 - (now.minute * 60 + now.second))
    return datetime.now(UTC)


def test_hours_are_exported_and_a_dag_starts_on_each(deployments: Deployments, stack: Stack) -> None:
    deployment = Deployment.open(stack.environment())
    Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]).create(2, "orders")
    now = _with_minutes_left()
    full = now.replace(minute=0, second=0, microsecond=0)
    before = [full - timedelta(minutes=minutes) for minutes in (90, 80, 50, 40, 30, 10)]
    ahead, current = now + timedelta(minutes=40), full + timedelta(seconds=1)
    write(stack, *before[:4], ahead, current, *before[4:])
    deployment.put(NAME, {**EXAMPLE["config"], "schedule.catchup": "false"})

    first = eventually(lambda: committed(deployment), lambda found: sum(one.counts.records for one in found) >= 6, 240)
    assert {one.row.bound_time for one in first} == {full}, "Airflow's first run is that of the last full hour"
    told = eventually(lambda: counted(deployment), bool, 120)
    # One partition goes on behind the record from the future; the other waits for its record of the next hour.
    assert sum(one.counts.records for one in first) == 6
    assert sum(one.counts.future for one in first) == 1
    assert [(one["until"], one["records"], one["rows"]) for one in told] == [(full.isoformat(), 6, 6)]
    home = deployments.folder / EXAMPLE["config"]["path"] / "orders"
    hours = [full - timedelta(hours=number) for number in (2, 1)]
    marked = {str(place.parent.relative_to(home)) for place in home.rglob("_SUCCESS")}
    assert marked == {".", *(hour.strftime("year=%Y/month=%m/day=%d/hour=%H") for hour in hours)}

    write(stack, full - timedelta(minutes=20))
    deployment.herder.scheduler.trigger(NAME)
    second = eventually(lambda: committed(deployment)[len(first) :], bool, 120)
    told = eventually(lambda: counted(deployment), lambda found: len(found) >= 2, 120)
    # The record of the current hour, the one behind it that the first hour could not have, and the late one.
    assert (told[1]["records"], told[1]["rows"], told[1]["late"]) == (3, 3, 2)
    assert sum(one.counts.late for one in second) == 2
    assert {str(place.parent.relative_to(home)) for place in home.rglob("_SUCCESS")} == marked

    assert slots(deployment, full) == [("finished", False), ("finished", False)]
    positions = offsets.get(deployment.herder, NAME)
    existing = inodes(home)
    sorted(existing)[0].write_bytes(b"damaged")
    # The manual run's late record lies in the last full hour's range: each interval there was is exported again.
    assert backfill(deployment, full - timedelta(hours=1), full) == ["drained", "drained"]
    again = [one for one in committed(deployment) if one.row.is_backfill]
    assert sum(one.counts.records for one in again) == 9
    assert set(inodes(home)) == set(existing), "all files have the names they had"
    assert not set(inodes(home).values()) & set(existing.values())
    assert {str(place.parent.relative_to(home)) for place in home.rglob("_SUCCESS")} == marked
    assert slots(deployment, full) == [("finished", True), ("finished", True)]
    assert offsets.get(deployment.herder, NAME) == positions
    told = eventually(lambda: counted(deployment), lambda found: len(found) >= 4, 120)
    assert sum(one["rows"] for one in told[2:]) == 9, "the files hold the records that the events tell"

    existing = inodes(home)
    assert backfill(deployment, full - timedelta(hours=1), full, by_command) == ["idle", "idle"]
    assert inodes(home) == existing
    assert len(counted(deployment)) == 4
    assert verify(deployment.herder, NAME).differences == [], "markers, files and history agree"
    deployment.delete(NAME)
