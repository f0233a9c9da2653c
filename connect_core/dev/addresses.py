"""Chooses the stack's ports and addresses, and writes them to files for clients and services."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address

from connect_core.dev.environment import parse_variables, write_variables
from connect_core.dev.home import Home
from connect_core.dev.ports import choose, has_port, port_of
from connect_core.dev.secrets import secret_file, write_private
from connect_core.dev.services import SERVICES

__all__ = ["assign_ports", "write_environment"]

_QUERY = "jdbc.query.allowed"


def assign_ports(home: Home, names: Iterable[str], say: Callable[[str], None]) -> None:
    """Choose the ports of services that are not running."""
    for name in names:
        for file, standard in SERVICES[name].ports.items():
            choose(home, name, file, standard, say)


def write_environment(home: Home, settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Write ``.connect/env`` and ``.connect/worker.properties``; return the former.

    It describes every service whose ports are assigned. ``settings`` override what
    is computed, and are saved for the next time; None keeps the last ones.
    """
    if settings is not None:
        write_variables(home.path / "settings.env", settings)
    environment = {
        "CONNECT_HOME": str(home.path),
        "CONNECT_PROJECT": str(home.project),
        "CONNECT_SECRET_KEY_FILE": str(secret_file(home, "secret-key")),
        "CONNECT_WORKER_CONFIG": str(home.path / "worker.properties"),
    }
    for service in SERVICES.values():
        if all(has_port(home, service.name, file) for file in service.ports):
            environment.update(service.exports(home))
    environment.update(parse_variables(home.path / "settings.env"))
    write_variables(home.path / "env", environment)
    _write_worker_properties(home, environment)
    return environment


def _write_worker_properties(home: Home, environment: Mapping[str, str]) -> None:
    given = home.setting("worker.properties")
    lines = given.read_text().splitlines() if given else []
    own = {"file.roots": str(home.data)}
    if "CONNECT_BOOTSTRAP_SERVERS" in environment:
        own["bootstrap.servers"] = environment["CONNECT_BOOTSTRAP_SERVERS"]
    bind = os.environ.get("CONNECT_BIND", "127.0.0.1")
    if has_port(home, "rest"):
        own["listeners"] = f"http://{bind}:{port_of(home, 'rest')}"
        if not ip_address(bind).is_loopback:
            # Without a login the REST API would not start there.
            own["rest.authentication"] = "airflow"
    if ip_address(bind).is_loopback and not any(_key(line) == _QUERY for line in lines):
        # Whoever creates connectors here owns the stack, as with a standalone worker.
        own[_QUERY] = "true"
    kept = [line for line in lines if _key(line) not in own]
    head = "# Written by `connect dev` from config/worker.properties."
    text = "\n".join([head, *kept, "", *(f"{key}={value}" for key, value in own.items())])
    write_private(home.path / "worker.properties", f"{text}\n")


def _key(line: str) -> str:
    return line.partition("=")[0].strip()
