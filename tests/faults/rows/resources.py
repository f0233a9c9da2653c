"""Space, memory, processor, clock and slots run out, or a writer is stopped in the middle of a file."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.faults.history import Findings, History
from tests.faults.rows.row import Row, moving
from tests.faults.world import CHECKOUT, World

_SECONDS = 6.0
_BATCH = 1000
_LIMITED_FILE = 2_000
_LIMITED_MEMORY = 24 << 20
_TRANSACTION_SECONDS = 61.0
_ABORTING_SECONDS = 12.0
"""How often the broker looks for transactions that outlived their time, and a little."""


def full_disk(world: World) -> Findings:
    """The file system of the sink is full for a while."""
    return _on_small_disk(world, 21, _fill)


def read_only_disk(world: World) -> Findings:
    """The file system of the sink can be read only for a while."""
    return _on_small_disk(world, 23, _protect)


def _on_small_disk(world: World, row: int, harm: Callable[[Path], int]) -> Findings:
    history = History(world, f"row-{row}-{world.random.getrandbits(24):06x}")
    history.exported.mkdir()
    _run("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(history.exported))
    try:
        history.begin()
        with history.writing():
            history.await_committed(history.sink, 1000)
            faults = harm(history.exported)
        history.heal()
        return history.end(faults)
    finally:
        world.end_drivers()
        _run("umount", "-l", str(history.exported))


def _fill(folder: Path) -> int:
    filler = folder / "_filler"
    for _ in range(2):
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 12))
        time.sleep(_SECONDS)
        filler.unlink()
        time.sleep(2)
    return 2


def _protect(folder: Path) -> int:
    for _ in range(2):
        for mode in ("ro", "rw"):
            # Refused while a file is being written: that is the next try's.
            for _ in range(200):
                if subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], check=False).returncode == 0:
                    break
                time.sleep(0.02)
            time.sleep(_SECONDS if mode == "ro" else 2)
    return 2


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=30)


def torn_writes(history: History) -> int:
    """Writes of the tasks end in the middle, with an error: no file of theirs may become longer than 2,000 bytes."""
    return _limited(history, resource.RLIMIT_FSIZE, lambda process: _LIMITED_FILE)


def little_memory(history: History) -> int:
    """The tasks' processes get no more memory: allocations fail, or end the process."""
    return _limited(history, resource.RLIMIT_AS, lambda process: int(process.memory_info().vms) + _LIMITED_MEMORY)


def _limited(history: History, kind: int, limit: Callable[[psutil.Process], int]) -> int:
    faults = 0
    for _ in range(2):
        with _limits(history.world, kind, limit) as count:
            time.sleep(_SECONDS)
        faults += count
        time.sleep(2)
    return faults


@contextmanager
def _limits(world: World, kind: int, limit: Callable[[psutil.Process], int]) -> Iterator[int]:
    """Limit the Python processes of Spark, and those they fork, while the block runs."""
    count = 0
    for process in world.python_workers():
        with suppress(psutil.NoSuchProcess):
            process.rlimit(kind, (limit(process), resource.RLIM_INFINITY))
            count += 1
    try:
        yield count
    finally:
        for process in world.python_workers():
            with suppress(psutil.NoSuchProcess):
                process.rlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def starve(history: History) -> int:
    """Drivers, tasks and Spark itself stand still in bursts, as under a long garbage collection."""
    chance, spark = history.world.random, psutil.Process(history.world.stack.service("spark").pid)
    for _ in range(12):
        found = [driver.process.pid for driver in history.world.drivers if driver.is_alive]
        found += [spark.pid, *(process.pid for process in history.world.python_workers())]
        with suppress(psutil.NoSuchProcess):
            victim = psutil.Process(chance.choice(found))
            victim.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0.2, 1.5))
            victim.send_signal(signal.SIGCONT)
        time.sleep(0.2)
    return 12


def outlive_transaction(world: World) -> Findings:
    """A task stands still in its transaction until the broker has aborted it, and then wants to commit."""
    history = History(world, f"row-14-{world.random.getrandbits(24):06x}")
    history.begin(**{"transaction.boundary": "interval", "transaction.boundary.interval.ms": "1000"})
    patience, world.pause_seconds = world.pause_seconds, 2.5
    try:
        with history.writing():
            history.await_committed(history.source, 1000)
            stopped = _stop_tasks(history)
            time.sleep(_TRANSACTION_SECONDS + _ABORTING_SECONDS)
            _signal(stopped, signal.SIGCONT)
            history.heal()
    finally:
        world.pause_seconds = patience
    return history.end(len(stopped))


def _stop_tasks(history: History) -> list[psutil.Process]:
    """Stop Spark's Python processes at a moment when a job of the source runs on."""
    for _ in range(100):
        interval = history.await_running(history.source)
        time.sleep(history.world.random.uniform(0.0, 0.3))
        stopped = history.world.python_workers()
        _signal(stopped, signal.SIGSTOP)
        time.sleep(2)
        if history.await_running(history.source).row.key == interval.row.key:
            return stopped
        _signal(stopped, signal.SIGCONT)
    raise AssertionError("no task could be stopped")


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def jump(world: World) -> Findings:
    """The wall clock of drivers is an hour behind, an hour ahead, ten years ahead; both move under each clock."""
    history = History(world, f"row-24-{world.random.getrandbits(24):06x}")
    history.begin()
    hour, patience = 3600, world.pause_seconds
    # Lines must come for as long as clocks jump: after each jump a lease has to end.
    world.pause_seconds = 4.0
    try:
        with history.writing():
            history.await_committed(history.source, 1000)
            for seconds in (-hour, hour, 10 * 365 * 24 * hour, -hour):
                _restart_at(history, seconds)
    finally:
        world.pause_seconds = patience
    history.heal()
    return history.end(4)


def _restart_at(history: History, seconds: int) -> None:
    """Let drivers with another clock take over from those that run, and move records."""
    for driver in history.world.drivers:
        driver.signal(signal.SIGKILL)
        driver.process.wait()
    history.world.heal()
    for name in (history.source, history.sink):
        history.world.drive(name, {"FAULTS_CLOCK_SECONDS": str(seconds)})
    for name in (history.source, history.sink):
        history.await_committed(name, history.committed(name) + _BATCH, 120)


def full_cluster(history: History) -> int:
    """Every slot of Spark is taken by somebody else's job for a while."""
    world = history.world
    code = (
        "import os, time\n"
        "from pyspark.sql import SparkSession\n"
        "session = SparkSession.builder.remote(os.environ['CONNECT_SPARK_REMOTE']).create()\n"
        "def sleep(batches):\n"
        "    for batch in batches:\n"
        "        time.sleep(20)\n"
        "        yield batch\n"
        "session.range(0, 16, 1, 16).mapInArrow(sleep, 'id long').collect()\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env=world.whole(), check=True, timeout=180)
    return 1


ROWS: tuple[Row, ...] = (
    Row(14, "transaction outlived its time", outlive_transaction),
    Row(21, "disk of the sink full", full_disk),
    moving(22, "writes torn", torn_writes, of_sink=True),
    Row(23, "disk of the sink read-only", read_only_disk),
    Row(24, "clock jumps", jump),
    moving(25, "no memory for tasks", little_memory, of_sink=True),
    moving(26, "processes stand still in bursts", starve),
    moving(42, "Spark cluster full", full_cluster),
)
