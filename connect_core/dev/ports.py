"""Ports of the services: the standard one, else a free one, kept in a file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from connect_core.dev.home import Home
from connect_core.dev.processes import ProcessId, relatives
from connect_core.errors import ConnectError
from connect_core.settings.private_folder import private_folder

__all__ = ["choose", "has_port", "is_free", "is_open", "listens", "port_of", "release"]

_FREE_RANGE = range(20_000, 30_000)
"""Below the ephemeral ports, which outgoing connections may take."""

_RESERVED_SECONDS = 300.0
"""How long a chosen port stays reserved for its stack, whose server listens there by then."""


def is_free(port: int) -> bool:
    """Return whether a server could listen on the port now."""
    for host in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return not is_open(port)


def is_open(port: int) -> bool:
    """Return whether something on this machine accepts connections on the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
    except OSError:
        return False


def listens(process: ProcessId, port: int) -> bool:
    """Return whether the process, or one of its relatives, listens on the port.

    True also where the system does not let us check.
    """
    for member in relatives(process):
        try:
            known = psutil.Process(member.pid).net_connections("tcp")
        except psutil.AccessDenied:
            return True
        except psutil.Error:
            continue
        if any(one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port for one in known):
            return True
    return False


def has_port(home: Home, service: str, name: str = "port") -> bool:
    """Return whether a service of this stack already has its port."""
    return (home.path / service / name).exists()


def port_of(home: Home, service: str, name: str = "port") -> int:
    """Return the port kept for a service (``name`` is its file)."""
    return int((home.folder(service) / name).read_text())


def choose(home: Home, service: str, name: str, standard: int, say: Callable[[str], None]) -> int:
    """Choose, save and return a port that is free now.

    ``CONNECT_<SERVICE>_<NAME>`` fixes it (ConnectError when it is taken);
    else the one used before, else the standard one, else any free one.
    """
    file = home.folder(service) / name
    fixed = os.environ.get(f"CONNECT_{service}_{name}".upper().replace("-", "_"))
    # Includes the name: a service that listens on two ports must not be given the same one twice.
    owner = f"{home.path}\n{service} {name}"
    with _reservations() as folder:
        port = int(fixed) if fixed else _remembered(file) or standard
        if fixed and not is_free(port):
            raise ConnectError(
                f"Port {port} for {service} is used by another program: stop that program, or use another port."
            )
        if not fixed and not _is_mine(folder, owner, port):
            taken, port = port, _any_free(folder, owner)
            say(f"{service}: port {taken} is in use, using {port}")
        (folder / str(port)).write_text(owner)
    file.write_text(f"{port}\n")
    return port


def release(home: Home) -> None:
    """Drop the reservations of a stack that has ended."""
    with _reservations() as folder:
        for file in folder.glob("[0-9]*"):
            if file.read_text().partition("\n")[0] == str(home.path):
                file.unlink()


@contextlib.contextmanager
def _reservations() -> Iterator[Path]:
    """Lock and return the folder in which this user's stacks record ports that they chose but do not listen on yet."""
    folder = private_folder("ports")
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _is_mine(folder: Path, owner: str, port: int) -> bool:
    file = folder / str(port)
    is_reserved = file.exists() and time.time() - file.stat().st_mtime < _RESERVED_SECONDS
    return is_free(port) and (not is_reserved or file.read_text() == owner)


def _remembered(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _any_free(folder: Path, owner: str) -> int:
    for port in random.sample(_FREE_RANGE, 200):
        if _is_mine(folder, owner, port):
            return port
    raise ConnectError(f"No free port between {_FREE_RANGE.start} and {_FREE_RANGE.stop}: stop some servers.")
