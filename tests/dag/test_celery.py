"""CeleryExecutor with two workers on a real Airflow: one is killed with a run in hand, the broker loses another run."""

from __future__ import annotations

import time
from contextlib import suppress

import psutil
import pytest

from connect_core.dev.celery import CELERY_WORKERS
from tests.dag.live import Live, eventually
from tests.dag.stub import stub_world

# A run on Celery is in make test, too: tests/dev/test_compose.py.
pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(900)]

_WORKERS = tuple(service.name for service in CELERY_WORKERS)
_SECONDS = 240.0


def _family(live: Live, worker: str) -> list[psutil.Process]:
    pid = live.stack.service(worker).pid
    with suppress(psutil.NoSuchProcess):
        return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)] if pid else []
    return []


def _end(live: Live, worker: str) -> None:
    """SIGKILL a worker with all it started, as when its machine dies; nobody starts it again."""
    for member in _family(live, worker):
        with suppress(psutil.NoSuchProcess):
            member.kill()
    live.stack.service(worker).stop()


def _await_success(live: Live, name: str, run_id: str) -> None:
    eventually(lambda: live.state(name, run_id) == "success", _SECONDS)


def test_runs_survive_a_killed_worker_and_a_broker_that_lost_its_messages(live_celery: Live) -> None:
    live = live_celery
    live.create("worker killed", schedule="@none")
    live.create("message lost", schedule="@none")
    stub_world.say("worker killed", records=3, seconds=600.0)
    stub_world.say("message lost", records=3)

    run_id = live.scheduler.trigger("worker killed")
    first = eventually(lambda: next(iter(live.runs("worker killed")), None), _SECONDS)
    (busy,) = [one for one in _WORKERS if first["pid"] in {member.pid for member in _family(live, one)}]
    (other,) = set(_WORKERS) - {busy}
    stub_world.say("worker killed", seconds=0.0)
    _end(live, busy)
    killed = time.monotonic()
    _await_success(live, "worker killed", run_id)
    print(f"\nkilled to success: {time.monotonic() - killed:.1f} s")
    assert [end["status"] for end in live.ended("worker killed")] == ["drained"]
    assert stub_world.facts("worker killed")["moved"] == 3

    _end(live, other)
    run_id = live.scheduler.trigger("message lost")
    live.until_state("message lost", run_id, "queued")
    live.stack.service("valkey").restart(_SECONDS)
    live.stack.service(busy).start(_SECONDS)
    lost = time.monotonic()
    _await_success(live, "message lost", run_id)
    print(f"worker back, message lost, to success: {time.monotonic() - lost:.1f} s")
    assert [end["status"] for end in live.ended("message lost")] == ["drained"]
    assert stub_world.facts("message lost")["moved"] == 3
