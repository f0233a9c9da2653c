"""What happens to Celery's workers and to their broker while lines move; Airflow and the watcher alone make it good."""

from __future__ import annotations

import time
from dataclasses import replace

from connect_core.herder.status import list_statuses
from tests.faults.celery_world import WORKERS, CeleryWorld
from tests.faults.history import History
from tests.faults.rows.row import Row, moving
from tests.faults.rows.stalls import await_queued, await_stall

_RECOVERED_SECONDS = 150.0
_TOLD = frozenset({"RUNNING", "RESTARTING"})
_START_SECONDS = 180.0


def _celery(history: History) -> CeleryWorld:
    assert isinstance(history.world, CeleryWorld)
    return history.world


def kill_workers(history: History) -> int:
    """SIGKILL the worker that has a run in hand, with its children; the other one goes on."""
    celery, names = _celery(history), (history.source, history.sink)
    for name in names:
        worker, before = None, 0
        while worker is None:
            interval = history.await_running(name, _RECOVERED_SECONDS)
            worker = celery.worker_of(int(interval.worker.rpartition(":")[2]))
            before = history.committed(name)
        celery.end_worker(worker)
        _await_progress(history, name, before)
        celery.stack.service(worker).start(_START_SECONDS)
    return len(names)


def _await_progress(history: History, name: str, before: int) -> None:
    """Wait until more is committed; until then the connector is shown as running, or stalled with a reason."""
    began = time.monotonic()
    while history.committed(name) <= before:
        history.append_if_drained(name)
        status = list_statuses(history.world.herder, (name,))[name]
        told = status.to_json()["connector"]["state"]
        assert told in _TOLD, f"{name} is {told} after its worker died"
        silent = time.monotonic() - began
        assert silent < _RECOVERED_SECONDS, f"nothing moved for {silent:.0f} s; stall: {status.stall}"
        time.sleep(0.5)
    history.recovery_seconds = max(history.recovery_seconds, time.monotonic() - began)


def lose_messages(history: History) -> int:
    """All workers die, runs wait in the broker until that is shown, and the broker dies with them."""
    celery = _celery(history)
    for worker in WORKERS:
        celery.end_worker(worker)
    await_queued(history)
    # A task whose heartbeat ended is first looked for by Airflow, and then waits in the broker.
    await_stall(history, (history.source, history.sink), ("queued", "heartbeat", "slot"))
    broker = celery.stack.service("valkey")
    broker.kill()
    broker.await_healthy(_START_SECONDS)
    for worker in WORKERS:
        celery.stack.service(worker).start(_START_SECONDS)
    return len(WORKERS) + 1


_ROWS: tuple[Row, ...] = (
    moving(70, "Celery worker killed with a run in hand", kill_workers),
    moving(70, "Celery's workers and the broker's messages lost", lose_messages),
)
ROWS: tuple[Row, ...] = tuple(replace(row, world=CeleryWorld) for row in _ROWS)
