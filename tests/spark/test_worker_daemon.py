"""Spark's Python workers are forked with all imported, and kept for Spark's next connection.

The quick tests speak for Spark's JVM, with a task that answers with numbers; what they leave out, the JVM's own ways of
ending workers, is tested with a real one.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest

from connect_core.dev.home import Home
from connect_core.dev.spark import SPARK

_SECRET = "secret"
_TASK = """
import os
from pyspark.serializers import read_int, write_int

calls = 0
kept = []

def main(infile, outfile):
    global calls, kept
    if read_int(infile) != 1:
        raise SystemExit(3)
    calls += 1
    freed = [bytes(100_000) for _ in range(400)]
    kept = [bytes(1000) for _ in range(400)]
    del freed
    write_int(calls, outfile)
"""
_DAEMON = """
import sys
from connect_core.spark import worker_daemon
worker_daemon._KEPT_SECONDS = float(sys.argv[2])
worker_daemon._MEMORY_KEPT_SECONDS = 0.5
worker_daemon.WorkerOrigin().serve()
"""
_COUNT = """
import os
from connect_core.spark.worker_daemon import preload
preload()
print(len(os.listdir("/proc/self/task")))
"""
_USE = """
import sys
from connect_core.spark.worker_daemon import preload
preload()
from connect_core.converters.json.read import rows
assert "polars._plr" not in sys.modules
print(rows.pl.Series(["a"]).str.contains("a").to_list(), rows.pl.Series is sys.modules["polars"].Series)
import polars
print(polars is sys.modules["polars"], rows.pl.__version__ == polars.__version__)
"""
_IDLE = """
import os, psutil, sys, time
from connect_core.spark.session import local_session
session = local_session("test", "")
jvm = session.sparkContext._jvm

def pids():
    # Each task waits for the other, so that two workers are needed.
    def pid(rows):
        import time
        time.sleep(0.5)
        return [os.getpid()]
    return set(session.sparkContext.parallelize(range(2), 2).mapPartitions(pid).collect())

def end_idle_workers():
    # What Spark does after a minute without tasks.
    environment = jvm.org.apache.spark.SparkEnv.get()
    fields = {field.getName(): field for field in environment.getClass().getDeclaredFields()}
    (field,) = [field for name, field in fields.items() if name.endswith("pythonWorkers")]
    field.setAccessible(True)
    factories = field.get(environment).values().toSeq()
    ended = 0
    for place in range(factories.size()):
        factory = factories.apply(place)
        for method in factory.getClass().getDeclaredMethods():
            if method.getName().endswith("cleanupIdleWorkers"):
                method.setAccessible(True)
                method.invoke(factory, session.sparkContext._gateway.new_array(jvm.java.lang.Object, 0))
                ended += 1
    assert ended, "Spark ends idle workers in another way"

first = pids()
end_idle_workers()
workers = [psutil.Process(pid) for pid in first]
while any(one.net_connections("tcp") or one.status() != psutil.STATUS_SLEEPING for one in workers):
    time.sleep(0.05)
time.sleep(1)
print(len(first), pids() == first)
session.stop()
"""


@dataclass(frozen=True)
class Connection:
    """Spark's side of a connection to a worker."""

    channel: socket.socket
    worker: int

    def run(self) -> int:
        """Run a task → how many this worker has run."""
        self.channel.sendall(struct.pack("!i", 1))
        return _int(self.channel)

    def fail(self) -> None:
        """Run a task that fails, and end the connection, as Spark does then."""
        self.channel.sendall(struct.pack("!i", 2))
        time.sleep(0.2)
        self.channel.close()


class Daemon:
    """A daemon, started and used as Spark's JVM does."""

    def __init__(self, folder: Path, kept_seconds: float = 60.0) -> None:
        (folder / "pyspark_task.py").write_text(_TASK)
        environment = {**os.environ, "PYTHONPATH": str(folder), "SPARK_REUSE_WORKER": "1"}
        environment["PYTHON_WORKER_FACTORY_SECRET"] = _SECRET
        command = [sys.executable, "-c", _DAEMON, "pyspark_task", str(kept_seconds)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=environment, **pipes)  # type: ignore[call-overload]
        (self._port,) = struct.unpack("!i", self.process.stdout.read(4))

    def connect(self) -> Connection:
        """Ask for a worker."""
        channel = socket.create_connection(("127.0.0.1", self._port), timeout=20)
        worker = _int(channel)
        channel.sendall(struct.pack("!i", len(_SECRET)) + _SECRET.encode())
        assert channel.recv(_int(channel)) == b"ok"
        return Connection(channel, worker)

    def used(self) -> int:
        """Let a worker run a task, and let it go → the worker, which is kept."""
        connection = self.connect()
        connection.run()
        let_go(connection)
        return connection.worker

    def kill(self, worker: int) -> None:
        """End a worker as Spark does with one whose task was cancelled."""
        self.process.stdin.write(struct.pack("!i", worker))
        self.process.stdin.flush()

    def workers(self) -> set[int]:
        """Return the running workers."""
        return {one.pid for one in psutil.Process(self.process.pid).children() if _is_running(one)}


def _is_running(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def _int(channel: socket.socket) -> int:
    (number,) = struct.unpack("!i", channel.recv(4, socket.MSG_WAITALL))
    return int(number)


@pytest.fixture
def cleanup() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def started(cleanup: ExitStack, folder: Path, kept_seconds: float = 60.0) -> Daemon:
    daemon = Daemon(folder, kept_seconds)
    cleanup.callback(daemon.process.wait)
    cleanup.callback(daemon.process.stdin.close)
    return daemon


def let_go(*connections: Connection) -> None:
    """End connections, as Spark does after a minute, and wait until their workers do."""
    for one in connections:
        one.channel.close()
    for one in connections:
        eventually(partial(is_waiting, psutil.Process(one.worker)))


def is_waiting(worker: psutil.Process) -> bool:
    """Return whether a worker waits for its next connection: it does nothing, and has none."""
    return not worker.net_connections("tcp") and worker.status() == psutil.STATUS_SLEEPING


def eventually(is_true: object, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_worker_that_spark_lets_go_serves_the_next_connection(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    worker = daemon.used()
    for count in (2, 3):
        following = daemon.connect()
        assert (following.worker, following.run()) == (worker, count)
        let_go(following)


def test_a_connection_gets_a_new_worker_if_all_are_at_work(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    connections = [daemon.connect() for _ in range(4)]
    assert [one.run() for one in connections + connections] == [1] * 4 + [2] * 4
    assert {one.worker for one in connections} == daemon.workers()
    let_go(*connections)
    again = [daemon.connect() for _ in range(5)]
    assert sorted(one.run() for one in again) == [1, 3, 3, 3, 3]
    assert {one.worker for one in connections} < {one.worker for one in again}


def test_only_some_workers_are_kept(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    for _ in range(2):
        connections = [daemon.connect() for _ in range(12)]
        for one in connections:
            one.run()
        for one in connections:
            one.channel.close()
        eventually(lambda: len(daemon.workers()) == 8)


def test_a_kept_worker_ends_after_its_time(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path, kept_seconds=2)
    worker = daemon.used()
    assert daemon.workers() == {worker}
    eventually(lambda: not daemon.workers())
    following = daemon.connect()
    assert following.worker != worker
    assert following.run() == 1


def test_a_waiting_worker_has_returned_its_memory_and_is_used_again(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    connection = daemon.connect()
    before = connection.run()
    worker = psutil.Process(connection.worker)
    size = worker.memory_info().rss
    let_go(connection)
    eventually(lambda: worker.memory_info().rss < size - 20_000_000)
    following = daemon.connect()
    assert (following.worker, following.run()) == (connection.worker, before + 1)


def test_a_worker_whose_task_failed_is_not_kept(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    for connection in (daemon.connect(), daemon.connect()):
        connection.run()
        connection.fail()
        eventually(lambda worker=connection.worker: worker not in daemon.workers())
    worker = daemon.used()
    following = daemon.connect()
    assert following.worker == worker
    following.fail()
    eventually(lambda: not daemon.workers())
    assert daemon.connect().run() == 1


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_kept_worker_that_has_died_or_hangs_is_replaced(tmp_path: Path, cleanup: ExitStack, end: int) -> None:
    daemon = started(cleanup, tmp_path)
    worker = daemon.used()
    os.kill(worker, end)
    following = daemon.connect()
    assert (following.worker != worker, following.run()) == (True, 1)
    eventually(lambda: daemon.workers() == {following.worker})


def test_spark_can_kill_a_worker_that_was_kept(tmp_path: Path, cleanup: ExitStack) -> None:
    daemon = started(cleanup, tmp_path)
    daemon.used()
    following = daemon.connect()
    daemon.kill(following.worker)
    assert following.channel.recv(1) == b""
    eventually(lambda: not daemon.workers())
    assert daemon.connect().run() == 1


@pytest.mark.parametrize("is_killed", [False, True])
def test_no_worker_outlives_the_daemon(tmp_path: Path, cleanup: ExitStack, is_killed: bool) -> None:
    daemon = started(cleanup, tmp_path)
    kept = [daemon.connect() for _ in range(3)]
    for one in kept:
        one.run()
    let_go(*kept)
    workers = [psutil.Process(pid) for pid in daemon.workers()]
    assert len(workers) == 3
    if is_killed:
        daemon.process.kill()
    else:
        daemon.process.stdin.close()
    assert not psutil.wait_procs(workers, timeout=10)[1]


@pytest.mark.slow
def test_workers_whose_idle_time_is_over_are_used_again_by_a_real_spark() -> None:
    options = "--conf spark.python.daemon.module=connect_core.spark.worker_daemon pyspark-shell"
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": options}
    command = [sys.executable, "-c", _IDLE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.split()[-2:] == ["2", "True"], done.stderr


def environment_of_daemon(folder: Path) -> dict[str, str]:
    """Return the environment in which the embedded stack's Spark starts the daemon."""
    home = Home(folder / ".connect", folder)
    for name in SPARK.ports:
        (home.folder("spark") / name).write_text("1")
    return dict(SPARK.launch(home, {}).environment)


def test_workers_import_polars_where_they_use_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _USE]
    used = subprocess.run(command, env=environment_of_daemon(tmp_path), capture_output=True, text=True, check=True)
    assert used.stdout.splitlines() == ["[True] True", "True True"]


def test_workers_are_forked_from_a_process_of_one_thread(tmp_path: Path) -> None:
    environment = environment_of_daemon(tmp_path)
    counted = subprocess.run(
        [sys.executable, "-c", _COUNT], env=environment, capture_output=True, text=True, check=True
    )
    assert counted.stdout.split() == ["1"]
    names = ("OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF")
    plain = {name: text for name, text in environment.items() if name not in names}
    counted = subprocess.run([sys.executable, "-c", _COUNT], env=plain, capture_output=True, text=True, check=True)
    assert int(counted.stdout) > 1, "the settings are needed no more"
