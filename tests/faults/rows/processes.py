"""Processes killed, paused and doubled while lines move."""

from __future__ import annotations

import os
import signal
import time

from tests.faults.history import History
from tests.faults.rows.row import Row, moving

_LEASE_SECONDS = 20.0


def kill_drivers(history: History) -> int:
    """SIGKILL a driver at any moment of its interval; another takes over."""
    chance, times = history.world.random, min(6, history.world.most)
    for _ in range(times):
        time.sleep(chance.uniform(0.3, 2.0))
        victim = chance.choice([driver for driver in history.world.drivers if driver.is_alive])
        victim.signal(signal.SIGKILL)
        victim.process.wait()
        history.world.heal(history.source, history.sink)
    return times


def kill_workers(history: History) -> int:
    """SIGKILL the Python processes of Spark that run tasks."""
    killed = 0
    for _ in range(200):
        found = [one for one in history.world.python_workers() if one.parent() in history.world.python_workers()]
        if found:
            history.world.random.choice(found).kill()
            killed += 1
        if killed == 4:
            break
        time.sleep(history.world.random.uniform(0.3, 1.5))
    return killed


def pause_driver(history: History) -> int:
    """SIGSTOP a driver in its job beyond the lease; when it wakes, another has done its work."""
    interval = history.await_running(history.sink)
    (driver,) = [one for one in history.world.drivers if one.connector == history.sink]
    driver.signal(signal.SIGSTOP)
    history.world.drive(history.sink)
    end = time.monotonic() + _LEASE_SECONDS + 60
    while not _is_overtaken(history, interval.row.key.epoch) and time.monotonic() < end:
        time.sleep(0.2)
    assert _is_overtaken(history, interval.row.key.epoch), "nobody took over"
    driver.signal(signal.SIGCONT)
    return 1


def _is_overtaken(history: History, epoch: int) -> bool:
    return any(one.row.key.epoch > epoch and one.row.state.is_final for one in history.intervals(history.sink))


def double_drivers(history: History) -> int:
    """Three drivers a connector compete for it, as when scheduled, manual and backfill runs meet."""
    for name in (history.source, history.sink) * 2:
        history.world.drive(name)
    # Until then all start for the first time: there is nothing yet to recover from.
    for name in (history.source, history.sink):
        history.await_committed(name, 1000)
    return 4


def kill_broker(history: History) -> int:
    """SIGKILL the broker; the stack's supervisor starts it again."""
    return _kill_server(history, "kafka", 2)


def kill_database(history: History) -> int:
    """SIGKILL the metadata database; the stack's supervisor starts it again."""
    return _kill_server(history, "postgres", 3)


def kill_spark(history: History) -> int:
    """SIGKILL the Spark Connect server with all executors in it."""
    return _kill_server(history, "spark", 1)


def _kill_server(history: History, name: str, times: int) -> int:
    server = history.world.stack.service(name)
    for _ in range(times):
        time.sleep(history.world.random.uniform(0.5, 2.0))
        server.kill()
        server.await_healthy(90)
    return times


def pause_broker(history: History) -> int:
    """SIGSTOP the broker for some seconds."""
    pid = history.world.stack.service("kafka").pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    time.sleep(8)
    os.kill(pid, signal.SIGCONT)
    return 1


ROWS: tuple[Row, ...] = (
    moving(1, "driver killed", kill_drivers),
    moving(2, "Python worker killed", kill_workers),
    moving(3, "executor JVM (Spark server) killed", kill_spark),
    moving(6, "driver paused beyond its lease", pause_driver),
    moving(9, "several runs of one connector", double_drivers, first=0),
    moving(12, "broker killed", kill_broker),
    moving(13, "broker paused", pause_broker),
    moving(16, "metadata database killed", kill_database),
)
