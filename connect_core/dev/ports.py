"""Ports of the services: the standard one, else a free one, kept in a file."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.errors import ConnectError

__all__ = ["choose", "has_port", "is_free", "is_open", "port_of"]

_FREE_RANGE = range(20_000, 30_000)
"""Below the ephemeral ports, which outgoing connections may take."""


def is_free(port: int) -> bool:
    """Tell whether a server could listen on the port now."""
    for host in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return not is_open(port)


def is_open(port: int) -> bool:
    """Tell whether something on this machine accepts connections there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
    except OSError:
        return False


def has_port(home: Home, service: str, name: str = "port") -> bool:
    """Tell whether a service of this stack has its port already."""
    return (home.path / service / name).exists()


def port_of(home: Home, service: str, name: str = "port") -> int:
    """Return the port kept for a service (``name`` is its file)."""
    return int((home.folder(service) / name).read_text())


def choose(home: Home, service: str, name: str, standard: int, say: Callable[[str], None]) -> int:
    """Choose, keep and return a port that is free now.

    ``CONNECT_<SERVICE>_<NAME>`` fixes it (ConnectError when it is taken);
    else the one used before, else the standard one, else any free one.
    """
    file = home.folder(service) / name
    fixed = os.environ.get(f"CONNECT_{service}_{name}".upper().replace("-", "_"))
    port = int(fixed) if fixed else _remembered(file) or standard
    if not is_free(port):
        if fixed:
            raise ConnectError(f"Port {port} for {service} is taken by another program: end it, or name another port.")
        taken, port = port, _any_free()
        say(f"{service}: port {taken} is taken, using {port}")
    file.write_text(f"{port}\n")
    return port


def _remembered(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _any_free() -> int:
    for port in random.sample(_FREE_RANGE, 200):
        if is_free(port):
            return port
    raise ConnectError(f"No free port between {_FREE_RANGE.start} and {_FREE_RANGE.stop}: end some servers.")
