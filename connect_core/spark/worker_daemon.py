"""The process from which Spark forks its Python workers (``spark.python.daemon.module``).

Its workers begin with connect-core imported. Spark ends those that had no task for a minute, and an interval after that
would begin with imports, connections and memory to be allocated again: here they wait for Spark's next request.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pyspark import daemon

from connect_core.run.memory_allocation import return_freed_memory

__all__ = ["KeptWorker", "WorkerOrigin", "preload"]

_IMPORTED = (
    *("confluent_kafka", "cryptography.fernet", "duckdb", "orjson", "pandas", "psycopg", "pyarrow.parquet"),
    *("sqlalchemy.dialects.postgresql", "connect_core.task.attempt", "pyspark.sql.pandas.serializers"),
)
"""Only what starts no thread, as a fork would lose it."""
_MOST_KEPT = 8
_KEPT_SECONDS = 900.0
_MEMORY_KEPT_SECONDS = 120.0
"""After this time a waiting worker returns the memory that its tasks have freed."""
_ANSWER_SECONDS = 1.0
_FREE, _CONNECTION, _TAKEN = b"f", b"c", b"t"
"""Messages between daemon and worker: it may be given work; a connection to Spark comes along; it has got it."""


class _PolarsOnFirstUse(types.ModuleType):
    """Stands for polars until it is used: importing polars starts a thread."""

    _loading = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        """Import polars and return its member."""
        if name.startswith("__"):
            raise AttributeError(name)
        with self._loading:
            if sys.modules["polars"] is self:
                del sys.modules["polars"]
                self.__dict__.update(vars(importlib.import_module("polars")))
        return getattr(sys.modules["polars"], name)


def preload() -> None:
    """Import what tasks need."""
    sys.modules["polars"] = _PolarsOnFirstUse("polars")
    for name in _IMPORTED:
        importlib.import_module(name)


class WorkerOrigin:
    """Gives each connection of Spark to a kept worker or, if there is none, to a new one."""

    def __init__(self) -> None:
        self._accepted: socket.socket | None = None
        self._controls: dict[int, socket.socket] = {}
        self._free: set[int] = set()
        self._places, self._returned_places = os.pipe()
        os.set_blocking(self._places, False)
        os.write(self._returned_places, b"." * _MOST_KEPT)

    def serve(self) -> None:
        """Run Spark's own daemon, which forks for each connection that it accepts."""
        origin = self

        class Listener(socket.socket):
            def accept(self) -> tuple[socket.socket, Any]:
                origin._accepted, address = super().accept()
                return origin._accepted, address

        daemon.socket = _with(socket, socket=Listener)
        daemon.os = _with(os, fork=self.fork)
        daemon.manager()

    def fork(self) -> int:
        """Return the process that serves the accepted connection, 0 in a new one."""
        connection, self._accepted = self._accepted, None
        if connection is not None:
            for pid in self._kept():
                if self._hand_over(pid, connection):
                    return pid
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid:
            theirs.close()
            self._controls[pid] = ours
        else:
            # Else a worker would not notice that the daemon has ended.
            for control in (ours, *self._controls.values()):
                control.close()
            daemon.worker = KeptWorker(theirs, self._places, self._returned_places).work
        return pid

    def _kept(self) -> Iterator[int]:
        for pid, control in list(self._controls.items()):
            if select.select([control], [], [], 0)[0]:
                if _message(control) == _FREE:
                    self._free.add(pid)
                else:
                    self._forget(pid)
            if pid in self._free:
                yield pid

    def _hand_over(self, pid: int, connection: socket.socket) -> bool:
        control = self._controls[pid]
        self._free.discard(pid)
        with suppress(OSError):
            socket.send_fds(control, [_CONNECTION], [connection.fileno()])
            if not select.select([control], [], [], _ANSWER_SECONDS)[0]:
                os.kill(pid, signal.SIGKILL)
            elif _message(control) == _TAKEN:
                return True
        self._forget(pid)
        return False

    def _forget(self, pid: int) -> None:
        self._free.discard(pid)
        self._controls.pop(pid).close()


class KeptWorker:
    """Works for one connection to Spark after the other.

    ``control``: connected to the daemon. ``places``: a pipe with a byte for each worker that may wait.
    """

    def __init__(self, control: socket.socket, places: int, returned_places: int) -> None:
        self._control = control
        self._places = places
        self._returned_places = returned_places
        self._spark = daemon.worker
        self._connection: socket.socket | None = None
        self._is_authenticated = self._needs_no_secret = False

    def work(self, connection: socket.socket, authenticated: bool) -> int:
        """Run the next task and return 0, or another number if there is none; Spark's ``daemon.worker`` otherwise."""
        if self._connection is None:
            self._connection, self._is_authenticated = connection, authenticated
            self._needs_no_secret = authenticated
        if _is_closed(self._connection):
            self._connection.close()
            following = self._next_connection()
            if following is None:
                return 1
            self._connection, self._is_authenticated = following, self._needs_no_secret
        code: int = self._spark(self._connection, self._is_authenticated)
        self._is_authenticated = True
        if code and self._connection is not connection:
            # What was written might not arrive if this end closed first; Spark's daemon sees to its own connection.
            while not _is_closed(self._connection):
                self._connection.recv(1024)
        return code

    def _next_connection(self) -> socket.socket | None:
        try:
            os.read(self._places, 1)
        except BlockingIOError:
            return None
        try:
            gc.collect()
            return self._given()
        finally:
            os.write(self._returned_places, b".")

    def _given(self) -> socket.socket | None:
        try:
            self._control.sendall(_FREE)
            if not self._is_called(_MEMORY_KEPT_SECONDS):
                return_freed_memory()
                if not self._is_called(_KEPT_SECONDS - _MEMORY_KEPT_SECONDS):
                    return None
            _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
            if not descriptors:
                return None
            self._control.sendall(_TAKEN)
        except OSError:
            # The daemon has ended.
            return None
        connection = socket.socket(fileno=descriptors[0])
        with connection.makefile("wb") as answer:
            daemon.write_int(os.getpid(), answer)
        return connection

    def _is_called(self, seconds: float) -> bool:
        return bool(select.select([self._control], [], [], seconds)[0])


def _message(control: socket.socket) -> bytes:
    """Return the next message; nothing if the other end has closed."""
    try:
        return control.recv(1)
    except OSError:
        return b""


def _is_closed(connection: socket.socket) -> bool:
    """Wait for a task or for Spark to let the worker go; return which it was."""
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _with(module: types.ModuleType, **members: Any) -> types.ModuleType:
    """Return the module as another one sees it, with some members replaced."""
    changed = types.ModuleType(module.__name__)
    changed.__dict__.update({**vars(module), **members})
    return changed


if __name__ == "__main__":
    gc.disable()
    preload()
    # Else the first collection of each worker would write to, and so copy, the pages of all these modules.
    gc.freeze()
    gc.enable()
    WorkerOrigin().serve()
