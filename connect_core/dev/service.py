"""Description of a service of the embedded stack."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from connect_core.dev.home import Home

__all__ = ["Environment", "Launch", "Service"]

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Launch:
    """The program of a service, and its environment."""

    command: tuple[str, ...]
    environment: Environment


@dataclass(frozen=True, slots=True)
class Service:
    """One server: how it is prepared, started, checked and ended.

    ``launch`` prepares data and config files and returns the program that
    replaces the calling process. ``is_healthy`` checks the running server.
    ``exports`` are the variables by which clients and other services find it.
    ``needs`` are the services that must be healthy before ``launch``.
    ``ports`` maps the name of a port's file to its standard number.
    ``log`` is the service's log file, relative to its folder.
    ``child_title`` is the prefix of the titles of child processes: if one of them dies, the service is restarted.
    """

    name: str
    launch: Callable[[Home, Environment], Launch]
    is_healthy: Callable[[Home, Environment], bool]
    exports: Callable[[Home], Environment] = lambda home: {}
    ports: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    needs: tuple[str, ...] = ()
    log: str = "console.log"
    child_title: str = ""
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 8.0
