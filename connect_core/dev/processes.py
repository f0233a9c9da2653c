"""Processes identified by pid *and* start time, and how those of a stack are ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["MARKER", "ProcessId", "end", "marked", "read_pid_file", "relatives", "write_pid_file"]

MARKER = "CONNECT_STACK_HOME"
"""Environment variable that marks a stack's processes with its folder."""


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process, identified even if its pid is used again later."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> ProcessId | None:
        """Return the identity of a process; None if it does not exist or is a zombie."""
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return cls(pid, _start(process))
        except (psutil.Error, OSError):
            return None

    def is_alive(self) -> bool:
        """Return whether this very process still runs."""
        return ProcessId.of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """Send the process a signal, unless it has ended."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _start(process: psutil.Process) -> str:
    stat = Path(f"/proc/{process.pid}/stat")
    if stat.exists():
        # Ticks since boot: unlike create_time, not moved by a change of the clock.
        return stat.read_text().rpartition(")")[2].split()[19]
    return f"{process.create_time():.2f}"


def read_pid_file(path: Path) -> ProcessId | None:
    """Return the process named by a pid file if it is alive, else None."""
    try:
        pid, started = path.read_text().split()
    except (OSError, ValueError):
        return None
    process = ProcessId(int(pid), started)
    return process if process.is_alive() else None


def write_pid_file(path: Path, pid: int) -> None:
    """Write a process's pid and start time to a file."""
    process = ProcessId.of(pid)
    if process is not None:
        scratch = path.with_name(f"{path.name}.{os.getpid()}")
        scratch.write_text(f"{process.pid} {process.started}\n")
        scratch.replace(path)


def marked(home: Path) -> set[ProcessId]:
    """Return the processes that carry the stack's marker."""
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARKER) == str(home):
                found.add(ProcessId.of(process.pid))
    return {process for process in found if process is not None and process.pid != os.getpid()}


def relatives(process: ProcessId) -> set[ProcessId]:
    """Return a process, its descendants and the members of its session."""
    family = {process.pid}
    with contextlib.suppress(psutil.Error):
        family |= {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if os.getsid(pid) == process.pid:
                family.add(pid)
    return {known for known in map(ProcessId.of, family) if known is not None}


def end(processes: Iterable[ProcessId], number: signal.Signals, grace: float) -> None:
    """Send a signal, wait up to ``grace`` seconds, then kill the processes that are left."""
    waiting = set(processes)
    for process in waiting:
        process.send(number)
    waiting = _wait(waiting, grace)
    for process in waiting:
        process.send(signal.SIGKILL)
    _wait(waiting, 5.0)


def _wait(processes: set[ProcessId], seconds: float) -> set[ProcessId]:
    deadline = time.monotonic() + seconds
    while (alive := {process for process in processes if process.is_alive()}) and time.monotonic() < deadline:
        time.sleep(0.05)
    return alive
