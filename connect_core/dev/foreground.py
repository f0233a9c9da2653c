"""Runs one service in the foreground: prepares its data, then replaces this process with it."""

from __future__ import annotations

import os
import sys
import time

from connect_core.dev.addresses import assign_ports, write_environment
from connect_core.dev.environment import read_environment
from connect_core.dev.home import Home
from connect_core.dev.ports import has_port, is_free, port_of
from connect_core.dev.processes import MARKER, read_pid_file, write_pid_file
from connect_core.dev.service import Environment, Service
from connect_core.dev.services import SERVICES, find_service
from connect_core.errors import ConnectError

__all__ = ["run_service"]

_NEED_SECONDS = 120.0


def run_service(home: Home, name: str) -> None:
    """Run a service in this process, in the foreground; does not return.

    The first service run in a folder creates the stack's secrets, ports and
    environment there. Raises ConnectError when the service cannot start.
    """
    service = find_service(name)
    _claim(home, service)
    environment = {**os.environ, **read_environment(home), MARKER: str(home.path), "SPT_NOENV": "1"}
    _await_needs(home, service, environment)
    launch = service.launch(home, environment)
    os.chdir(home.project)
    sys.stdout.flush()
    os.execvpe(launch.command[0], launch.command, dict(launch.environment))


def _claim(home: Home, service: Service) -> None:
    pid_file = home.folder(service.name) / "pid"
    with home.lock():
        home.create()
        other = read_pid_file(pid_file)
        if other is not None and other.pid != os.getpid():
            raise ConnectError(
                f"{service.name} is already running here as process {other.pid}: stop it with `connect dev down`."
            )
        _check_ports(home, service)
        write_pid_file(pid_file, os.getpid())


def _check_ports(home: Home, service: Service) -> None:
    unassigned = [
        known for known in SERVICES.values() if not all(has_port(home, known.name, name) for name in known.ports)
    ]
    if service in unassigned or not (home.path / "env").exists():
        # All ports at once: a service that starts later must not change the environment of this one.
        assign_ports(home, [known.name for known in unassigned], print)
        write_environment(home)
    for name in service.ports:
        port = port_of(home, service.name, name)
        if not is_free(port):
            raise ConnectError(
                f"Port {port} is used by another program: stop that program, or run `connect dev up` to use another "
                "port."
            )


def _await_needs(home: Home, service: Service, environment: Environment) -> None:
    deadline = time.monotonic() + _NEED_SECONDS
    for name in service.needs:
        while not find_service(name).is_healthy(home, environment):
            if time.monotonic() > deadline:
                raise ConnectError(
                    f"{service.name} needs {name}, which does not respond: see `connect dev logs {name}`."
                )
            time.sleep(0.2)


if __name__ == "__main__":
    try:
        run_service(Home.locate(), sys.argv[1])
    except ConnectError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
