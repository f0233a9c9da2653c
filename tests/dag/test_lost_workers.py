"""Processes of LocalExecutor killed on a real Airflow: what they had in hand is run all the same."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from connect_core.dag.airflow_tasks import OpenTask, clear_task, open_tasks
from connect_core.dag.naming import dag_id_of
from connect_core.dev.services import find_service
from connect_core.store import reports
from tests.dag.live import Live, eventually
from tests.dag.stub import stub_world

pytestmark = pytest.mark.servers

_TITLE = find_service("airflow-scheduler").child_title


def _workers(live: Live) -> list[psutil.Process]:
    pid = live.stack.service("airflow-scheduler").pid
    assert pid is not None
    found = []
    for child in psutil.Process(pid).children():
        try:
            if " ".join(child.cmdline()).startswith(_TITLE):
                found.append(child)
        except psutil.Error:
            continue
    return found


@contextmanager
def _all_stopped(workers: list[psutil.Process]) -> Iterator[None]:
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for worker in workers:
            if worker.is_running():
                worker.send_signal(signal.SIGCONT)


def _await_success(live: Live, name: str, run_id: str) -> None:
    # The start of a scheduler alone takes half a minute where others want the processors, too.
    eventually(lambda: live.state(name, run_id) == "success", 150.0)


def test_run_that_stays_queued_is_seen_and_scheduled_again(live: Live) -> None:
    live.create("stays queued", schedule="@none")
    stub_world.say("stays queued", records=3)
    dag_id = dag_id_of("stays queued")

    def queued() -> OpenTask | None:
        return next((one for one in open_tasks(live.api, [dag_id]) if one.state == "queued"), None)

    with _all_stopped(eventually(lambda: _workers(live))):
        run_id = live.scheduler.trigger("stays queued")
        first = eventually(queued)
        assert (first.dag_id, first.run_id, first.task_id) == (dag_id, run_id, "run")
        clear_task(live.api, first)
        again = eventually(lambda: one if (one := queued()) and one.since != first.since else None)
        assert again.since is not None
        assert first.since is not None
        assert again.since > first.since
    _await_success(live, "stays queued", run_id)
    assert stub_world.facts("stays queued")["moved"] == 3


def test_overseer_hears_of_airflow_and_its_parts(live: Live) -> None:
    live.create("overseen")
    eventually(lambda: live.is_watched("overseen"))

    def told() -> bool:
        with live.database.read() as connection:
            found = reports.load(connection)
        parts = (reports.WATCHER, reports.AIRFLOW, reports.SCHEDULER, reports.DAG_PROCESSOR, reports.TRIGGERER)
        return all((one := found.get(part)) and one.error is None and one.worked_at for part in parts)

    eventually(told)


@pytest.mark.matrix
def test_killed_scheduler_starts_again(live: Live) -> None:
    scheduler = live.stack.service("airflow-scheduler")
    before = scheduler.pid
    scheduler.kill()
    scheduler.await_healthy(90)
    assert scheduler.pid != before


@pytest.mark.matrix
def test_run_moves_though_every_idle_worker_was_killed(live: Live) -> None:
    live.create("idle worker killed", schedule="@none")
    stub_world.say("idle worker killed", records=3)
    workers = eventually(lambda: _workers(live))
    with _all_stopped(workers):
        run_id = live.scheduler.trigger("idle worker killed")
        live.until_state("idle worker killed", run_id, "queued")
        # The one that waits for a task holds the lock the others wait for.
        for worker in workers:
            worker.kill()
    killed = time.monotonic()
    _await_success(live, "idle worker killed", run_id)
    print(f"\nkilled to success: {time.monotonic() - killed:.1f} s")
    assert stub_world.facts("idle worker killed")["moved"] == 3


def test_run_moves_though_the_worker_that_took_it_was_killed(live: Live) -> None:
    live.create("worker killed", schedule="@none")
    stub_world.say("worker killed", records=3)

    def took() -> psutil.Process | None:
        return next((one for one in _workers(live) if not " ".join(one.cmdline()).rstrip().endswith("<idle>")), None)

    # Right after its start nothing else is in hand.
    eventually(lambda: len(_workers(live)) == 4 and took() is None)
    run_id = live.scheduler.trigger("worker killed")
    eventually(took).kill()
    killed = time.monotonic()
    _await_success(live, "worker killed", run_id)
    print(f"\nkilled to success: {time.monotonic() - killed:.1f} s")
    assert stub_world.facts("worker killed")["moved"] == 3
