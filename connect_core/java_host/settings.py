"""Start settings of a host: Java, Connect's own jars, plugins, memory."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from connect_core.errors import ConfigError, ConnectError
from connect_core.java_host.jar import host_jar
from connect_core.java_host.java import java_program

__all__ = ["DISCOVERIES", "HostSettings", "environment", "heap_bytes", "split_options"]

DISCOVERIES = ("only_scan", "hybrid_warn", "hybrid_fail", "service_load")
"""Values of ``plugin.discovery`` (KIP-898)."""

_HEAP = re.compile(r"(\d+)([kmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_MOST_YOUNG = 192 << 20
_OLD_AT_START = 16 << 10
_RUNTIME = "connect-runtime-*.jar"
_REMEDY = "Run `connect java fetch`, or set java.plugin.libs to the folder libs of an Apache Kafka installation"


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Settings of the hosts of one worker; ``heap`` in the form of the option -Xmx.

    libs: the folder of Connect's runtime. plugin_path: the folders and jars of ``plugin.path``. known: the plugins that
    the host needs, each with ``class``, ``type``, ``version`` and ``location``; ``None``: it searches plugin_path.
    options: further options of the Java process.
    """

    libs: Path
    plugin_path: tuple[str, ...] = ()
    discovery: str = "hybrid_warn"
    heap: str = "512m"
    options: tuple[str, ...] = ()
    known: tuple[Mapping[str, str], ...] | None = None

    def with_plugins(self, known: Iterable[Mapping[str, str]]) -> HostSettings:
        """Return the settings of a host that has some plugins and does not search for others."""
        return replace(self, known=tuple(known))

    def command(self, answers: int) -> list[str]:
        """Return the command of a host that writes responses to a descriptor. Raise ConnectError without jars."""
        return [
            str(java_program()),
            f"-Xmx{self.heap}",
            "-XX:+UseSerialGC",
            *self._young_generation(),
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null",
            "-Dfile.encoding=UTF-8",
            "-Djava.awt.headless=true",
            *self.options,
            "-cp",
            f"{host_jar()}:{self._libs()}/*",
            "connectcore.Host",
            str(answers),
        ]

    def _young_generation(self) -> list[str]:
        """Return options that let records of a batch be freed young, without copies: some batches live at once."""
        heap = heap_bytes("-Xmx", self.heap)
        young = min(heap // 3, _MOST_YOUNG) >> 10
        start = min(heap >> 10, young + _OLD_AT_START)
        return [f"-XX:NewSize={young}k", f"-Xms{start}k", "-XX:SurvivorRatio=4", "-XX:TargetSurvivorRatio=90"]

    def _libs(self) -> Path:
        if not any(self.libs.glob(_RUNTIME)):
            raise ConnectError(f"Connect's Java runtime ({_RUNTIME}) is not in {self.libs}. {_REMEDY}")
        return self.libs

    @property
    def search(self) -> dict[str, str]:
        """The settings for Connect's own class that finds plugins."""
        return {"plugin.path": ",".join(self.plugin_path), "plugin.discovery": self.discovery}


def environment() -> dict[str, str]:
    """Return this process's environment without the worker's variables: plugins are third-party code."""
    own = ("CONNECT_", "AIRFLOW", "SPARK_", "PYSPARK_")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def heap_bytes(name: str, text: str) -> int:
    """Return a size such as ``512m`` in bytes. Raise ConfigError for another text."""
    match = _HEAP.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise ConfigError(name, text, "Write a number of bytes with a unit, such as 512m or 2g")
    return int(match[1]) * _UNITS[match[2].lower()]


def split_options(text: str) -> tuple[str, ...]:
    """Return options, split as by a shell."""
    return tuple(shlex.split(text))
