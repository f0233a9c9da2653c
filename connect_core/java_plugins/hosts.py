"""The hosts of one process: one for each task, one for requests about configurations, one for single stages."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from connect_core.errors import ConnectError
from connect_core.java_host.host import JavaHost, Lane
from connect_core.java_host.settings import HostSettings

__all__ = ["SharedHost", "SharedLane", "TaskHosts"]

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class SharedHost:
    """A host for many short uses; it is started on demand, and ends after it has been idle for a while."""

    settings: HostSettings
    name: str
    idle_seconds: float = 60.0
    _host: JavaHost | None = None
    _users: int = 0
    _timer: threading.Timer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, kind: str, spec: dict[str, object]) -> SharedLane:
        """Return a lane of the host. Raises ConnectError."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._host is None or not self._host.is_alive:
                self._host = JavaHost.start(self.settings, self.name)
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


@dataclass(frozen=True, slots=True)
class TaskHosts:
    """Starts the host of a task or connector: with the plugins it needs, and its own heap."""

    settings: HostSettings

    def take(self, locations: Iterable[str], discovery: str, heap: str, name: str) -> JavaHost:
        """Return a host for exclusive use. Raises ConnectError."""
        wanted = sorted(set(locations))
        return JavaHost.start(replace(self.settings.with_plugins(wanted, discovery), heap=heap), name)

    def give_back(self, host: JavaHost) -> None:
        """End a host that is no longer needed."""
        host.close()
