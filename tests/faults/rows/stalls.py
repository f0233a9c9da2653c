"""Nothing fails and nothing moves: what Airflow loses or lacks is made good, or shown as a stall with its reason."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import psutil

from connect_core.dev.services import find_service
from connect_core.herder.status import list_statuses
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import statuses
from tests.faults.airflow_world import AirflowWorld
from tests.faults.history import History
from tests.faults.rows.row import Row, moving

_WORKERS = find_service("airflow-scheduler").child_title
_IDLE = "<idle>"
_STALL_SECONDS = 150.0
"""Stalled after 60 s, seen every 5 s, on a machine that does other things as well."""
_START_SECONDS = 180.0
"""Until new connectors have DAGs, and these have begun."""
_HOGS = 4
"""As many as the stack's parallelism."""


def _workers(history: History) -> list[tuple[psutil.Process, str]]:
    pid = history.world.stack.service("airflow-scheduler").pid
    found = []
    for child in psutil.Process(pid).children() if pid else ():
        try:
            title = " ".join(child.cmdline()).rstrip()
        except psutil.Error:
            continue
        if title.startswith(_WORKERS):
            found.append((child, title))
    return found


def _until(look: Callable[[], bool], what: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain for {what}"
        time.sleep(0.02)


def kill_busy_workers(history: History) -> int:
    """SIGKILL a process of LocalExecutor that has just taken a task; the stack's supervisor makes it good."""

    def kill_one() -> bool:
        busy = [worker for worker, title in _workers(history) if not title.endswith(_IDLE)]
        for worker in busy[:1]:
            worker.kill()
        return bool(busy)

    _until(kill_one, "a worker with a task", 120)
    return 1


def kill_idle_workers(history: History) -> int:
    """SIGKILL every idle process of LocalExecutor, so also the one with the lock the others wait for."""
    _until(lambda: any(title.endswith(_IDLE) for _, title in _workers(history)), "an idle worker", 60)
    idle = [worker for worker, title in _workers(history) if title.endswith(_IDLE)]
    for worker in idle:
        worker.kill()
    return len(idle)


def kill_scheduler_at_start(history: History) -> int:
    """SIGKILL the scheduler when a task has been handed out and has not begun."""
    await_queued(history)
    history.world.stack.service("airflow-scheduler").kill()
    return 1


def await_queued(history: History) -> None:
    """Wait until a task has been handed out and has not begun."""
    with history.world.superuser("airflow") as session:

        def is_queued() -> bool:
            return bool(session.execute("SELECT 1 FROM task_instance WHERE state = 'queued' LIMIT 1").fetchall())

        session.autocommit = True
        _until(is_queued, "a queued task", 120)


def _away(
    service: str, causes: Collection[str], names: Callable[[History], Collection[str]]
) -> Callable[[History], int]:
    """Return what ends a service until a connector is stalled for one of these causes, then starts it."""

    def inject(history: History) -> int:
        history.world.stack.service(service).stop()
        try:
            await_stall(history, names(history), causes)
        finally:
            history.world.stack.service(service).start(180)
        return 1

    return inject


def await_stall(history: History, names: Collection[str], causes: Collection[str]) -> None:
    """Wait until one of the connectors is shown as stalled for one of these causes."""
    herder = history.world.herder

    def is_known() -> bool:
        time.sleep(1)
        stalls = [one.stall for one in list_statuses(herder, names).values() if one.stall is not None]
        return any(stall.cause.value in causes for stall in stalls)

    _until(is_known, f"a stall for {' or '.join(causes)}", _STALL_SECONDS)


def _both(history: History) -> Collection[str]:
    return (history.source, history.sink)


def _newcomer(history: History) -> Collection[str]:
    """Create a connector that needs the DAG processor."""
    name = f"{history.name}-new"
    history._create(name, ConnectorType.SINK, {**history.sink_config(), "name": name, "path": f"{history.exported}-2"})
    history.world.drive(name)
    return (name,)


def exhaust_parallelism(history: History) -> int:
    """As many connectors as Airflow runs tasks hang in their plan; the others are stalled for want of a slot."""
    hogs = [f"{history.name}-hog-{number}" for number in range(_HOGS)]
    for name in hogs:
        file = Path(f"{history.file}-{name}")
        file.write_text("line\n")
        Path(f"{file}.mood").write_text("hang")
        config = {**history.source_config(), "name": name, "file": str(file), "connector.class": "MoodySource"}
        # The watcher starts @continuous ones a few at a time, so that slots are left.
        config["schedule"] = "@once"
        history._create(name, ConnectorType.SOURCE, {**config, "hook.timeout.ms": "600000"})
        history.world.drive(name)
    try:
        _until(lambda: _are_held(history, hogs), "runs that take every slot", _START_SECONDS)
        # LocalExecutor takes tasks beyond its parallelism: they are queued.
        await_stall(history, _both(history), ("slot", "queued"))
    finally:
        for name in hogs:
            history.change(name, TargetState.STOPPED)
            Path(f"{history.file}-{name}.mood").unlink()
    return len(hogs)


def _are_held(history: History, names: Collection[str]) -> bool:
    time.sleep(1)
    with history.world.herder.database.read() as connection:
        leases = [one.lease_age for one in statuses.load_facts(connection, names)]
    return all(age is not None and age < 0 for age in leases)


def deafen_broker(history: History) -> int:
    """SIGSTOP the broker, whose connections stay open, until a connector is stalled for Kafka's sake."""
    pid = history.world.stack.service("kafka").pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        await_stall(history, _both(history), ("kafka",))
    finally:
        os.kill(pid, signal.SIGCONT)
    return 1


_HOLDER = """
import os, sys, time
from pyspark.sql import SparkSession

remote, hold = sys.argv[1:]

def wait(batches):
    while os.path.exists(hold):
        time.sleep(0.2)
    return batches

SparkSession.builder.remote(remote).create().range(0, 64, 1, 64).mapInPandas(wait, "id long").count()
"""
"""Tasks that wait for a file to go, many times as many as Spark has slots."""


def fill_spark(history: History) -> int:
    """A job that is nobody's connector holds every slot of Spark until a connector is stalled for want of one."""
    hold = history.world.folder / f"{history.name}.hold"
    hold.touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, history.world.environment["CONNECT_SPARK_REMOTE"], str(hold)]
    )
    try:
        await_stall(history, _both(history), ("spark",))
    finally:
        hold.unlink()
        holder.wait(120)
    return 1


_ROWS: tuple[Row, ...] = (
    moving(46, "executor's worker killed with a run in hand", kill_busy_workers),
    moving(46, "executor's idle workers killed", kill_idle_workers),
    moving(60, "scheduler killed between handing out and start", kill_scheduler_at_start),
    moving(60, "triggerer away until it is shown", _away("airflow-triggerer", ("triggerer",), _both)),
    moving(60, "DAG processor away until it is shown", _away("airflow-dag-processor", ("dag_processor",), _newcomer)),
    moving(60, "API server away until it is shown", _away("airflow-api-server", ("airflow",), _both)),
    moving(60, "parallelism exhausted until it is shown", exhaust_parallelism),
    moving(60, "broker deaf until it is shown", deafen_broker),
    moving(60, "Spark full until it is shown", fill_spark),
)
ROWS: tuple[Row, ...] = tuple(replace(row, world=AirflowWorld) for row in _ROWS)
