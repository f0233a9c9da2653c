"""Start settings of a host: Java, Connect's own jars, plugins, memory."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
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
_RUNTIME = "connect-runtime-*.jar"
_REMEDY = "Run `connect java fetch`, or set java.plugin.libs to the folder libs of an Apache Kafka installation"


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Settings of the hosts of one worker; ``heap`` in the form of the option -Xmx.

    libs: the folder of Connect's runtime. plugin_path: the folders and jars of ``plugin.path``. locations: the plugins
    in it that the host must find; ``None`` for all. options: further options of the Java process.
    """

    libs: Path
    plugin_path: tuple[str, ...] = ()
    discovery: str = "hybrid_warn"
    heap: str = "512m"
    options: tuple[str, ...] = ()
    locations: tuple[str, ...] | None = None

    def with_plugins(self, locations: Sequence[str], discovery: str) -> HostSettings:
        """Return the settings of a host that finds only the plugins at some locations."""
        return replace(self, locations=tuple(locations), discovery=discovery)

    def command(self, answers: int) -> list[str]:
        """Return the command of a host that writes responses to a descriptor. Raise ConnectError without jars."""
        return [
            str(java_program()),
            f"-Xmx{self.heap}",
            "-Xms16m",
            "-XX:+UseSerialGC",
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

    def _libs(self) -> Path:
        if not any(self.libs.glob(_RUNTIME)):
            raise ConnectError(f"Connect's Java runtime ({_RUNTIME}) is not in {self.libs}. {_REMEDY}")
        return self.libs

    @property
    def worker(self) -> dict[str, str]:
        """The settings for Connect's own class that finds plugins."""
        if self.locations is None:
            return {"plugin.path": ",".join(self.plugin_path), "plugin.discovery": self.discovery}
        return {"plugin.locations": "\n".join(self.locations), "plugin.discovery": self.discovery}


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
