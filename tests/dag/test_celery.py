"""CeleryExecutor with two workers on a real Airflow: one is killed with a run in hand, the broker forgets another."""

from __future__ import annotations

import time
from functools import partial

import psutil
import pytest

from tests.dag.live import Live, eventually
from tests.dag.stub import stub_world

pytestmark = pytest.mark.servers

_WORKERS = ("celery-worker-1", "celery-worker-2")
_SECONDS = 150.0


def _family(live: Live, worker: str) -> list[psutil.Process]:
    pid = live.stack.service(worker).pid
    if pid is None:
        return []
    leader = psutil.Process(pid)
    return [leader, *leader.children(recursive=True)]


def _await_success(live: Live, name: str, run_id: str) -> None:
    eventually(lambda: live.state(name, run_id) == "success", _SECONDS)


def test_run_goes_to_the_other_worker_when_its_own_is_killed(live_celery: Live) -> None:
    live = live_celery
    live.create("worker killed", schedule="@none")
    stub_world.say("worker killed", records=3, seconds=600.0)
    run_id = live.scheduler.trigger("worker killed")
    first = eventually(lambda: next(iter(live.runs("worker killed")), None))
    (busy,) = [one for one in _WORKERS if first["pid"] in {member.pid for member in _family(live, one)}]
    for member in _family(live, busy):
        member.kill()
    live.stack.service(busy).stop()
    killed = time.monotonic()
    stub_world.say("worker killed", seconds=0.0)
    _await_success(live, "worker killed", run_id)
    print(f"\nkilled to success: {time.monotonic() - killed:.1f} s")
    assert stub_world.facts("worker killed")["moved"] == 3
    live.stack.service(busy).start()


def test_run_whose_message_the_broker_lost_is_handed_over_again(live_celery: Live) -> None:
    live = live_celery
    live.create("message lost", schedule="@none")
    stub_world.say("message lost", records=3)
    for worker in _WORKERS:
        live.stack.service(worker).stop()
    run_id = live.scheduler.trigger("message lost")
    live.until_state("message lost", run_id, "queued")
    broker = live.stack.service("valkey")
    broker.kill()
    eventually(partial(broker.is_healthy))
    for worker in _WORKERS:
        live.stack.service(worker).start()
    lost = time.monotonic()
    _await_success(live, "message lost", run_id)
    print(f"\nbroker empty to success: {time.monotonic() - lost:.1f} s")
    assert stub_world.facts("message lost")["moved"] == 3
