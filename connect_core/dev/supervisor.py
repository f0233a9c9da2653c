"""The process that starts the services, and restarts those that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from connect_core.dev.child_processes import ChildProcesses
from connect_core.dev.home import Home
from connect_core.dev.processes import MARKER, ProcessId, end, marked, read_pid_file, write_pid_file
from connect_core.dev.services import SERVICES
from connect_core.errors import ConnectError

__all__ = ["Backoff", "Supervisor", "desired", "end_services", "main", "running", "set_desired", "start_supervisor"]

_TICK_SECONDS = 0.2
_LOG_BYTES = 50 << 20
_STORES = ("kafka", "postgres")
"""Ended last, as the others write to them while they stop."""


@dataclass(slots=True)
class Backoff:
    """When a service that died may start again: 0.5 s, doubled up to 30 s."""

    failures: int = 0
    started: float = float("-inf")
    settled_after: float = 30.0

    def delay(self) -> float:
        """Return the minimum seconds between the last start and the next one."""
        return min(0.5 * 2.0 ** (self.failures - 1), 30.0) if self.failures else 0.0

    def is_due(self, now: float) -> bool:
        """Return whether the service may start at ``now``."""
        return now >= self.started + self.delay()

    def starts(self, now: float) -> None:
        """Note a start; if the previous one lasted long, earlier failures are forgotten."""
        self.failures = 1 if now - self.started > self.settled_after else self.failures + 1
        self.started = now


def desired(home: Home) -> tuple[str, ...]:
    """Return the names of the services that should be running."""
    file = home.path / "desired"
    return tuple(name for name in file.read_text().split() if name in SERVICES) if file.exists() else ()


def set_desired(home: Home, names: tuple[str, ...]) -> None:
    """Set the services that should be running; a running supervisor follows within 0.2 s."""
    scratch = home.path / f".desired.{os.getpid()}"
    scratch.write_text("\n".join(names) + "\n")
    scratch.replace(home.path / "desired")


def running(home: Home, name: str) -> ProcessId | None:
    """Return the live process of a service, or of ``supervisor``."""
    return read_pid_file(home.path / name / "pid")


def start_supervisor(home: Home) -> None:
    """Start the supervisor in a separate session, unless it is running."""
    if running(home, "supervisor") is not None:
        return
    starter = _spawn(home, "supervisor", [sys.executable, "-m", "connect_core.dev.supervisor"])
    if starter.wait() != 0:
        raise ConnectError(f"The supervisor did not start: see {home.path / 'supervisor' / 'console.log'}.")


def end_services(home: Home, names: tuple[str, ...]) -> int:
    """End services, those that hold data last; return how many were running."""
    ended = 0
    for group in ([name for name in names if name not in _STORES], [name for name in names if name in _STORES]):
        ended += _end_together(home, group)
    return ended


def _end_together(home: Home, names: list[str]) -> int:
    leaders = {name: process for name in names if (process := running(home, name)) is not None}
    for name, process in leaders.items():
        process.send(SERVICES[name].stop_signal)
    deadline = time.monotonic() + max((SERVICES[name].stop_seconds for name in leaders), default=0.0)
    for name, process in leaders.items():
        end([process], SERVICES[name].stop_signal, max(0.1, deadline - time.monotonic()))
        _end_session(home, process)
        (home.path / name / "pid").unlink(missing_ok=True)
    return len(leaders)


def _end_session(home: Home, leader: ProcessId) -> None:
    end([process for process in marked(home.path) if _session(process) == leader.pid], signal.SIGKILL, 5.0)


def _session(process: ProcessId) -> int:
    try:
        return os.getsid(process.pid)
    except OSError:
        return -1


def _spawn(home: Home, name: str, command: list[str]) -> subprocess.Popen[bytes]:
    log = home.folder(name) / "console.log"
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    own = {
        "CONNECT_HOME": str(home.path),
        "CONNECT_PROJECT": str(home.project),
        MARKER: str(home.path),
        "SPT_NOENV": "1",
    }
    with log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        return subprocess.Popen(
            command,
            cwd=home.path,
            env={**os.environ, **own, "PYTHONUNBUFFERED": "1"},
            stdin=nothing,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


class Supervisor:
    """Keeps the desired services running, and no others."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._leaders: dict[str, ProcessId] = {}
        self._backoffs = {name: Backoff() for name in SERVICES}
        self._child_processes = {
            name: ChildProcesses(service.child_title) for name, service in SERVICES.items() if service.child_title
        }
        self._stopping = False

    def run(self) -> None:
        """Supervise until SIGTERM or SIGINT, then end all services."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._stopping:
            self.reconcile(time.monotonic())
            time.sleep(_TICK_SECONDS)
        end_services(self._home, tuple(SERVICES))
        for child in self._children.values():
            child.poll()

    def reconcile(self, now: float) -> None:
        """Start desired services that are not running; end running ones that are not desired."""
        wanted = desired(self._home)
        for name in SERVICES:
            process = running(self._home, name)
            if process is not None:
                self._leaders[name] = process
                if name not in wanted:
                    self._end(name)
                elif name in self._child_processes and self._child_processes[name].has_lost(process, now):
                    self._end_broken(name, process)
            elif name in wanted:
                self._start(name, now)
        for child in self._children.values():
            child.poll()

    def _start(self, name: str, now: float) -> None:
        backoff = self._backoffs[name]
        if not backoff.is_due(now):
            return
        if name in self._leaders:
            _end_session(self._home, self._leaders.pop(name))
            self._count_restart(name)
        backoff.starts(now)
        child = _spawn(self._home, name, [sys.executable, "-m", "connect_core.dev.foreground", name])
        self._children[name] = child
        write_pid_file(self._home.path / name / "pid", child.pid)
        # Noted here, not when next seen: one that dies at once counts as a restart too.
        leader = ProcessId.of(child.pid)
        if leader is not None:
            self._leaders[name] = leader

    def _end(self, name: str) -> None:
        end_services(self._home, (name,))
        self._leaders.pop(name, None)
        self._backoffs[name] = Backoff()

    def _end_broken(self, name: str, process: ProcessId) -> None:
        """Kill a service that lost a process it needs; it is restarted like one that died."""
        sys.stdout.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {name} lost one of its processes\n")
        _end_session(self._home, process)

    def _count_restart(self, name: str) -> None:
        file = self._home.path / name / "restarts"
        count = int(file.read_text()) if file.exists() else 0
        scratch = file.with_name("restarts.new")
        scratch.write_text(f"{count + 1}\n")
        scratch.replace(file)
        sys.stdout.write(
            f"{time.strftime('%Y-%m-%d %H:%M:%S')} {name} exited, starting it again (restart {count + 1})\n"
        )

    def _stop(self, number: int, frame: object) -> None:
        self._stopping = True


def main() -> None:
    """Supervise in the background, detached from the process that started it."""
    home = Home.locate()
    if os.fork():
        # The starter's caller reads the pid file right after.
        os._exit(0 if _await_pid_file(home) else 1)
    write_pid_file(home.folder("supervisor") / "pid", os.getpid())
    Supervisor(home).run()


def _await_pid_file(home: Home) -> bool:
    deadline = time.monotonic() + 10.0
    while running(home, "supervisor") is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return running(home, "supervisor") is not None


if __name__ == "__main__":
    main()
