"""The Java plugins of a worker: their settings, their catalog and their hosts."""

from __future__ import annotations

import fnmatch
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from connect_core.errors import ConfigError, ConnectError
from connect_core.java_host.host import JavaHost
from connect_core.java_host.settings import HostSettings, heap_bytes, split_options
from connect_core.java_plugins.catalog import Catalog, JavaClass, read_catalog
from connect_core.java_plugins.hosts import IdleHosts, SharedHost, SharedLane, places_of
from connect_core.java_plugins.redaction import SecretTexts, secret_texts
from connect_core.settings import WorkerSettings
from connect_core.settings.user_cache import user_cache

__all__ = ["HEAP", "LIBS_VERSION", "JavaPlugins", "broken_jars", "default_libs", "missing_places"]

_LOG = logging.getLogger(__name__)
HEAP = "java.plugin.heap"
"""The setting of a worker and of a connector for the heap of a host."""
LIBS_VERSION = "4.3.1"
_ASK_SECONDS = 60.0


def default_libs() -> Path:
    """Return the folder where `connect java fetch` puts Connect's runtime."""
    return user_cache() / f"connect-runtime-{LIBS_VERSION}"


def missing_places(path: Iterable[str]) -> list[str]:
    """Return what is wrong with each folder or jar of ``plugin.path`` that is not there, or may not be read."""
    found = []
    for one in map(Path, path):
        if not one.exists():
            found.append(f"plugin.path names {one}, which does not exist here: correct it, or copy the plugins there")
        elif not os.access(one, os.R_OK | os.X_OK if one.is_dir() else os.R_OK):
            found.append(f"plugin.path names {one}, which may not be read: give this user the permission")
    return found


def broken_jars(path: Iterable[str]) -> list[str]:
    """Return what is wrong with each jar that is none, as after a download that was cut off; Connect skips these."""
    places = [Path(one) for one in path]
    jars = [jar for one in places for jar in ([one] if one.is_file() else one.rglob("*.jar"))]
    return [f"{jar} is no jar: copy it here again" for jar in sorted(jars) if jar.is_file() and not is_zipfile(jar)]


def _expanded(key: str, place: str) -> Path:
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise ConfigError(key, place, "there is no such user: write the whole path") from error


@dataclass(frozen=True)
class JavaPlugins:
    """The Java plugins of a worker; two with the same settings are equal.

    preferred: patterns of class names that take precedence over built-in ones; stop_seconds: how long a task may take
    to stop.
    """

    settings: HostSettings
    heap_max: str = "2g"
    preferred: tuple[str, ...] = ()
    idle_seconds: float = 60.0
    stop_seconds: float = 5.0
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, compare=False, repr=False)

    @classmethod
    def of(cls, worker: WorkerSettings) -> JavaPlugins | None:
        """Return the plugins of a worker's ``plugin.path``; ``None`` if it is empty. Raise ConfigError."""
        values = worker.values
        path = tuple(str(_expanded("plugin.path", one).absolute()) for one in values["plugin.path"] if one.strip())
        if not path:
            return None
        for key in (HEAP, "java.plugin.heap.max"):
            heap_bytes(key, values[key])
        libs = values["java.plugin.libs"]
        return cls(
            HostSettings(
                _expanded("java.plugin.libs", libs) if libs else default_libs(),
                path,
                values["plugin.discovery"].lower(),
                values[HEAP],
                split_options(values["java.plugin.options"]),
            ),
            values["java.plugin.heap.max"],
            tuple(values["java.plugins.preferred"]),
            values["java.plugin.idle.ms"] / 1000,
            values["task.shutdown.graceful.timeout.ms"] / 1000,
        )

    @property
    def catalog(self) -> Catalog:
        """All plugins, discovered once. If that fails the catalog is empty, and the log contains the reason."""
        with self._lock:
            if "catalog" not in self._kept:
                try:
                    self._kept["catalog"] = read_catalog(self.settings)
                except ConnectError as error:
                    _LOG.error("The Java plugins of plugin.path cannot be used: %s", error)
                    self._kept["catalog"] = Catalog(())
                    self._kept["trouble"] = str(error)
                for one in missing_places(self.settings.plugin_path):
                    _LOG.warning("%s", one)
            found: Catalog = self._kept["catalog"]
            return found

    @property
    def trouble(self) -> str | None:
        """Why plugins may not be found: discovery failed, or parts of ``plugin.path`` cannot be read."""
        failed: str | None = None if self.catalog.classes else self._kept.get("trouble")
        with self._lock:
            if "unread" not in self._kept:
                places = self.settings.plugin_path
                self._kept["unread"] = "; ".join((*missing_places(places), *broken_jars(places)))
        return failed or self._kept["unread"] or None

    def is_preferred(self, name: str) -> bool:
        """Return whether a class takes precedence over the built-in one of its name."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.preferred)

    # -- hosts ---------------------------------------------------------------------------------------------------------

    def start_plugin(
        self, classes: Sequence[JavaClass], config: Mapping[str, str], name: str, start: Callable[[JavaHost], None]
    ) -> None:
        """Call ``start`` with a host that has some classes and the connector's own heap. Raises what it raises.

        If that fails in a host that was used before, once more in a new one: a plugin may have left something behind.
        """
        settings = replace(self.settings.with_plugins(places_of(classes)), heap=self.heap_of(config))
        host = self._idle.take(settings, name)
        is_new = not host.lanes
        try:
            start(host)
        except ConnectError as error:
            if is_new:
                raise
            _LOG.info("%s did not start in a process used before, so a new one is started: %s", name, error)
            host.kill()
            start(self._idle.take(settings, name))

    def give_back(self, host: JavaHost) -> None:
        """Release a host whose lanes are closed; the connector's next interval may use it again."""
        self._idle.keep(host)

    @property
    def _idle(self) -> IdleHosts:
        with self._lock:
            found: IdleHosts = self._kept.setdefault("idle", IdleHosts(self.idle_seconds))
            return found

    def heap_of(self, config: Mapping[str, str]) -> str:
        """Return the heap of a connector's hosts. Raise ConfigError for more than the worker allows."""
        heap = config.get(HEAP, "").strip() or self.settings.heap
        if heap_bytes(HEAP, heap) > max(heap_bytes(HEAP, self.heap_max), heap_bytes(HEAP, self.settings.heap)):
            raise ConfigError(HEAP, heap, f"The worker allows {self.heap_max} (java.plugin.heap.max)")
        return heap

    def open_stage(self, kind: str, spec: Mapping[str, Any], texts: SecretTexts) -> SharedLane:
        """Return a lane of the host that single stages of this process share. Raises ConnectError."""
        return self._shared("stages", "Java stages").open(kind, dict(spec), texts)

    def ask(self, op: str, header: Mapping[str, Any], config: Mapping[str, str | None]) -> Mapping[str, Any]:
        """Send a configuration request to a plugin that is not started → the response's header. Raises ConnectError.

        ``config``: what the plugin is told of the configuration, whose secrets are not printed. A plugin that does not
        respond is ended with its host, so that others are not blocked.
        """
        lane = self._shared("questions", "requests to Java plugins").open("catalog", {}, secret_texts(config))
        try:
            return lane.lane.call(op, {**header, "aside": True}, seconds=_ASK_SECONDS).header
        finally:
            lane.close()

    def _shared(self, key: str, name: str) -> SharedHost:
        with self._lock:
            if key not in self._kept:
                settings = self.settings.with_plugins(places_of(self.catalog.classes))
                self._kept[key] = SharedHost(settings, name, self.idle_seconds)
            found: SharedHost = self._kept[key]
            return found

    def known(self, names: Sequence[tuple[str, str]]) -> list[JavaClass] | None:
        """Return the classes of some names and types; ``None`` unless all are Java classes."""
        found = [self.catalog.find(*one) for one in names]
        return None if None in found else [one for one in found if one is not None]
