"""The hosts of one process: of tasks and connectors, for requests about configurations, for single stages."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from connect_core.errors import ConnectError
from connect_core.java_host.host import JavaHost, Lane
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.redaction import HiddenTexts, SecretTexts

__all__ = ["IdleHosts", "SharedHost", "SharedLane", "places_of"]

_LOG = logging.getLogger(__name__)
_MOST_USES = 100
"""After these a host is replaced, whatever its plugins have left behind in it."""


@dataclass(slots=True)
class SharedHost:
    """A host for many short uses; it is started on demand, and ends after it has been idle for a while."""

    settings: HostSettings
    name: str
    idle_seconds: float = 60.0
    _hidden: HiddenTexts = field(default_factory=HiddenTexts)
    _host: JavaHost | None = None
    _users: int = 0
    _timer: threading.Timer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, kind: str, spec: dict[str, object], texts: SecretTexts) -> SharedLane:
        """Return a lane of the host, which prints none of the secrets. Raises ConnectError."""
        secrets = texts()
        with self._lock:
            self._hidden.add(secrets)
            if self._timer is not None:
                self._timer.cancel()
            if self._host is None or not self._host.is_alive:
                self._host = JavaHost.start(self.settings, self.name)
                self._host.log.clean = self._hidden.clean
            host = self._host
            self._users += 1
        try:
            lane = host.open(kind, spec)
        except ConnectError:
            self._leave()
            raise
        return SharedLane(lane, self._leave)

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._timer = threading.Timer(self.idle_seconds, self._end_if_idle)
                self._timer.daemon = True
                self._timer.start()

    def _end_if_idle(self) -> None:
        with self._lock:
            if self._users:
                return
            host, self._host = self._host, None
        if host is not None:
            host.close()


@dataclass(slots=True)
class SharedLane:
    """A lane of a shared host."""

    lane: Lane
    leave: Callable[[], None]
    _is_closed: bool = False

    def close(self) -> None:
        """Release the lane. May be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self.lane.close(seconds=5.0)
        except ConnectError as error:
            _LOG.warning("%s", error)
        finally:
            self.leave()


class IdleHosts:
    """Starts the hosts of tasks and connectors, and keeps each for the connector's next interval.

    A host that is kept has its classes loaded and compiled, as a worker of Connect has. It ends after ``idle_seconds``,
    when ``most`` others were kept after it, and after ``_MOST_USES``; it is not kept where a plugin has failed.
    """

    def __init__(self, idle_seconds: float, most: int = 2) -> None:
        self._idle_seconds = idle_seconds
        self._most = most
        self._idle: dict[JavaHost, threading.Timer] = {}
        self._lock = threading.Lock()

    def take(self, settings: HostSettings, name: str) -> JavaHost:
        """Return a host for exclusive use. Raises ConnectError."""
        with self._lock:
            same = [one for one in self._idle if one.name == name and one.settings == settings]
            if same:
                self._idle.pop(same[-1]).cancel()
        if same and same[-1].is_alive:
            return same[-1]
        if same:
            same[-1].close()
        return JavaHost.start(settings, name)

    def keep(self, host: JavaHost) -> None:
        """Keep a host whose lanes are closed, or end it."""
        if not self._idle_seconds or host.lanes >= _MOST_USES or not host.is_reusable():
            host.close()
            return
        timer = threading.Timer(self._idle_seconds, self._end_if_idle, (host,))
        timer.daemon = True
        with self._lock:
            self._idle[host] = timer
            timer.start()
            oldest = next(iter(self._idle)) if len(self._idle) > self._most else None
        if oldest is not None:
            self._end_if_idle(oldest)

    def _end_if_idle(self, host: JavaHost) -> None:
        with self._lock:
            timer = self._idle.pop(host, None)
        if timer is not None:
            timer.cancel()
            host.close()


def places_of(classes: Iterable[JavaClass]) -> list[dict[str, str]]:
    """Return what a host must know of some classes to load them without a search."""
    return [place for one in classes if (place := one.place) is not None]
