"""Starts, inspects and ends an embedded stack from Python."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from connect_core.dev.addresses import assign_ports, write_environment
from connect_core.dev.apicurio import apicurio_jar, apicurio_jar_cached
from connect_core.dev.environment import read_environment
from connect_core.dev.home import Home
from connect_core.dev.jars import kafka_jars, kafka_jars_cached
from connect_core.dev.java import find_java
from connect_core.dev.ports import listens, port_of, release
from connect_core.dev.processes import end, marked
from connect_core.dev.services import SERVICES, STANDARD, find_service, in_order
from connect_core.dev.supervisor import desired, end_services, running, set_desired, start_supervisor
from connect_core.errors import ConnectError

__all__ = ["Report", "RunningService", "Silent", "Stack"]

_TICK_SECONDS = 0.2
_MANY_RESTARTS = 3
_STOP_SECONDS = 40.0


class Report(Protocol):
    """Receives progress: lines to keep, and a line for the present state."""

    def say(self, line: str) -> None:
        """Print a line that stays."""

    def show(self, line: str) -> None:
        """Show what is being waited for now."""


class Silent:
    """Report nothing."""

    def say(self, line: str) -> None:
        """Drop the line."""

    def show(self, line: str) -> None:
        """Drop the line."""


@dataclass(frozen=True, slots=True)
class RunningService:
    """A handle on one service of a stack."""

    home: Home
    name: str

    @property
    def pid(self) -> int | None:
        """Return the server's pid; None while it is not running."""
        process = running(self.home, self.name)
        return process.pid if process else None

    @property
    def port(self) -> int:
        """Return the port clients connect to."""
        return port_of(self.home, self.name)

    @property
    def log_path(self) -> Path:
        """Return the path of the service's log."""
        return Path(os.path.normpath(self.home.path / self.name / find_service(self.name).log))

    @property
    def restarts(self) -> int:
        """Return how often the supervisor has restarted it."""
        file = self.home.path / self.name / "restarts"
        return int(file.read_text()) if file.exists() else 0

    def is_desired(self) -> bool:
        """Return whether the supervisor is to keep it running."""
        return self.name in desired(self.home)

    def is_healthy(self) -> bool:
        """Check the server; False while it is not running, and if another program listens on its port."""
        process = running(self.home, self.name)
        service = find_service(self.name)
        if process is None or not service.is_healthy(self.home, read_environment(self.home)):
            return False
        return not service.ports or listens(process, self.port)

    def kill(self) -> None:
        """Kill it with SIGKILL; the supervisor restarts it."""
        process = running(self.home, self.name)
        if process is not None:
            end([process], signal.SIGKILL, 5.0)

    def restart(self, timeout: float = 60.0) -> None:
        """Stop it gracefully, start it, and wait until it is healthy."""
        self.stop()
        self.start(timeout)

    def stop(self) -> None:
        """Stop it; the supervisor does not restart it."""
        set_desired(self.home, tuple(name for name in desired(self.home) if name != self.name))
        end_services(self.home, (self.name,))

    def start(self, timeout: float = 60.0) -> None:
        """Start it after ``stop`` and wait until it is healthy."""
        set_desired(self.home, in_order((*desired(self.home), self.name)))
        self.await_healthy(timeout)

    def await_healthy(self, timeout: float = 60.0) -> None:
        """Wait until it is healthy; raise ConnectError after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        while not self.is_healthy():
            if time.monotonic() > deadline:
                raise ConnectError(f"{self.name} has not responded after {timeout:.0f} s: {self.last_lines()}")
            time.sleep(_TICK_SECONDS)

    def last_lines(self, count: int = 5) -> str:
        """Return the last lines of its console log, for an error message."""
        console = self.home.path / self.name / "console.log"
        lines = console.read_text(errors="replace").splitlines() if console.exists() else []
        return "\n".join(lines[-count:]) or "its log is empty"


def _missing_programs() -> dict[str, Callable[[Callable[[str], None]], Path]]:
    """Return the download functions of programs that are missing, by the service that needs them."""
    found = {"kafka": (kafka_jars_cached, kafka_jars), "registry": (apicurio_jar_cached, apicurio_jar)}
    return {name: fetch for name, (cached, fetch) in found.items() if cached() is None}


@dataclass(frozen=True, slots=True)
class Stack:
    """The embedded servers of one state folder.

    ``services`` are started with the services they need. ``settings`` are variables
    that override the computed ``.connect/env``; None keeps those of the last start. ``project``
    contains dags/, plugins/ and config/; it defaults to the checkout.
    """

    path: Path
    services: tuple[str, ...] = STANDARD
    project: Path | None = None
    settings: Mapping[str, str] | None = None

    @property
    def home(self) -> Home:
        """Return its state folder and project."""
        return Home(self.path.absolute(), (self.project or Path(__file__).parents[2]).absolute())

    def service(self, name: str) -> RunningService:
        """Return the handle of a service."""
        return RunningService(self.home, find_service(name).name)

    def environment(self) -> dict[str, str]:
        """Return the variables with which clients find the stack."""
        return read_environment(self.home)

    def up(self, report: Report | None = None, timeout: float = 240.0) -> bool:
        """Start the services that are not running, and wait until all are healthy.

        Return False if all already were. Raises ConnectError, with
        the remedy, when a service cannot start.
        """
        report = report or Silent()
        home, names = self.home, in_order(self.services)
        home.create()
        with home.lock("up.lock"):
            if self._is_complete(names):
                return False
            if {"kafka", "spark", "registry"} & set(names):
                find_java()
            self._assign(names, report)
            wanted = in_order((*desired(home), *names)) if running(home, "supervisor") else names
            # The others start while missing programs are downloaded.
            missing = {name: fetch for name, fetch in _missing_programs().items() if name in wanted}
            set_desired(home, tuple(name for name in wanted if name not in missing))
            start_supervisor(home)
            for fetch in missing.values():
                fetch(report.show)
            set_desired(home, wanted)
            self._await(wanted, report, timeout)
        return True

    def down(self) -> int:
        """End every process of this stack; return how many there were."""
        home = self.home
        if not home.path.exists():
            return 0
        with home.lock("up.lock"):
            count = len(marked(home.path))
            supervisor = running(home, "supervisor")
            if supervisor is not None:
                end([supervisor], signal.SIGTERM, _STOP_SECONDS)
            set_desired(home, ())
            end_services(home, tuple(SERVICES))
            end(marked(home.path), signal.SIGKILL, 5.0)
            (home.path / "supervisor" / "pid").unlink(missing_ok=True)
            release(home)
        return count

    def _is_complete(self, names: Iterable[str]) -> bool:
        supervised = running(self.home, "supervisor") is not None
        return (
            supervised
            and set(names) <= set(desired(self.home))
            and all(self.service(name).is_healthy() for name in names)
        )

    def _assign(self, names: Iterable[str], report: Report) -> None:
        home = self.home
        before = read_environment(home)
        with home.lock():
            assign_ports(home, [name for name in names if running(home, name) is None], report.say)
            after = write_environment(home, self.settings)
        if any(after.get(name) != value for name, value in before.items()):
            # Services left running would look for the others at their old addresses.
            end_services(home, tuple(SERVICES))

    def _await(self, names: tuple[str, ...], report: Report, timeout: float) -> None:
        started = time.monotonic()
        waiting = [self.service(name) for name in names]
        restarts = {service.name: service.restarts for service in waiting}
        while waiting:
            for service in [service for service in waiting if service.is_healthy()]:
                waiting.remove(service)
                report.say(f"{service.name} is up ({time.monotonic() - started:.1f} s)")
            for service in waiting:
                if service.restarts - restarts[service.name] >= _MANY_RESTARTS:
                    raise ConnectError(f"{service.name} did not start: {service.last_lines()}")
            if waiting and time.monotonic() - started > timeout:
                names_left = ", ".join(service.name for service in waiting)
                raise ConnectError(f"Not up after {timeout:.0f} s: {names_left}. {waiting[0].last_lines()}")
            if waiting:
                report.show("waiting for " + ", ".join(service.name for service in waiting))
                time.sleep(_TICK_SECONDS)
