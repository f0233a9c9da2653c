"""The list of Java plugins: requested from a host once, then cached until a jar changes."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from connect_core.java_host.host import JavaHost
from connect_core.java_host.jar import host_jar
from connect_core.java_host.settings import HostSettings
from connect_core.settings.user_cache import user_cache

__all__ = ["Catalog", "JavaClass", "read_catalog"]

_LOG = logging.getLogger(__name__)
_CLASSPATH = "classpath"
_TOOLS = "org.apache.kafka.connect.tools."
_SCAN_SECONDS = 600.0
_FORMAT = "2"
"""Version of the cache's format: files of other versions are not read."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class JavaClass:
    """One plugin of one type, as its host described it."""

    told: Json

    @property
    def name(self) -> str:
        """The full name of its class."""
        return str(self.told["class"])

    @property
    def type(self) -> str:
        """Connect's plugin type: source, sink, transformation and so on."""
        return str(self.told["type"])

    @property
    def version(self) -> str:
        """Its version; ``undefined`` if it declares none."""
        return str(self.told["version"])

    @property
    def location(self) -> str | None:
        """The folder or jar of ``plugin.path`` that contains it; ``None``: it comes with Connect's runtime."""
        found = str(self.told["location"])
        return None if found == _CLASSPATH else unquote(found.removeprefix("file:")).rstrip("/")

    @property
    def is_offered(self) -> bool:
        """Whether users may use it: all of plugin.path, and the connectors of java.plugin.libs except Kafka's tools."""
        is_connector = self.type in ("source", "sink") and not self.name.startswith(_TOOLS)
        return self.location is not None or is_connector

    @property
    def settings(self) -> Sequence[Json]:
        """The definitions of its settings; empty if it cannot be instantiated."""
        found: Sequence[Json] = self.told.get("settings") or ()
        return found

    @property
    def task(self) -> str | None:
        """The class of a connector's tasks, if it does not depend on the configuration."""
        return self.told.get("task")

    @property
    def follows_records(self) -> bool:
        """Whether tasks of a source must be notified of each committed record."""
        return bool(self.told.get("followsRecords"))

    @property
    def place(self) -> dict[str, str] | None:
        """What a host must know to load it without a search; ``None``: it comes with Connect's runtime."""
        if self.location is None:
            return None
        return {"class": self.name, "type": self.type, "version": self.version, "location": self.location}


@dataclass(frozen=True)
class Catalog:
    """All plugins that a host finds."""

    classes: tuple[JavaClass, ...]

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], JavaClass]:
        return {(one.name, one.type): one for one in self.classes}

    def find(self, name: str, type: str) -> JavaClass | None:
        """Return a plugin by the full name of its class."""
        return self._by_name.get((name, type))


def read_catalog(settings: HostSettings) -> Catalog:
    """Return the plugins of a host with these settings. Raise ConnectError if the host cannot be started."""
    if not settings.plugin_path:
        return Catalog(())
    folder = user_cache() / "java-plugins"
    file = folder / f"{_stamp(settings)}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(file.with_suffix(".lock")):
            return _kept(file) or _scanned(settings, file)
    except OSError as error:
        _LOG.warning("%s cannot be used, so Java plugins are scanned in each process: %s", folder, error)
        return _scanned(settings, None)


def _kept(file: Path) -> Catalog | None:
    try:
        return _catalog(orjson.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError):
        return None


def _scanned(settings: HostSettings, file: Path | None) -> Catalog:
    host = JavaHost.start(settings, "plugin discovery", seconds=_SCAN_SECONDS)
    try:
        lane = host.open("catalog", {})
        plugins = lane.call("catalog.plugins", seconds=_SCAN_SECONDS).header["plugins"]
    finally:
        host.close()
    for one in plugins:
        if "trouble" in one:
            _LOG.warning("Java plugin %s cannot be created: %s", one["class"], one["trouble"]["message"])
    if file is not None:
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(orjson.dumps(plugins))
        draft.replace(file)
    return _catalog(plugins)


def _catalog(plugins: Sequence[Json]) -> Catalog:
    return Catalog(tuple(JavaClass(one) for one in plugins))


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _stamp(settings: HostSettings) -> str:
    """Return a digest that changes with any jar, and with how plugins are discovered."""
    digest = hashlib.sha256(host_jar().read_bytes())
    digest.update(repr((_FORMAT, settings.discovery, settings.plugin_path)).encode())
    for root in (str(settings.libs), *settings.plugin_path):
        for name, size, changed in sorted(_files(Path(root))):
            digest.update(f"{name}\0{size}\0{changed}\n".encode())
    return digest.hexdigest()[:32]


def _files(root: Path) -> Iterator[tuple[str, int, int]]:
    if root.is_file():
        yield _facts(root)
    for folder, _, names in os.walk(root, followlinks=True):
        for name in names:
            if name.endswith((".jar", ".zip", ".class")) or "META-INF" in folder:
                yield _facts(Path(folder) / name)


def _facts(file: Path) -> tuple[str, int, int]:
    try:
        found = file.stat()
    except OSError:
        return str(file), -1, -1
    return str(file), found.st_size, found.st_mtime_ns
