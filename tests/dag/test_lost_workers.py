"""Processes of LocalExecutor killed on a real Airflow: what they had in hand is run all the same."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from connect_core.dev.services import find_service
from tests.dag.live import Live, eventually
from tests.dag.stub import stub_world

pytestmark = pytest.mark.servers

_TITLE = find_service("airflow-scheduler").crew


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
