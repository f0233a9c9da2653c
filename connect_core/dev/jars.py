"""Jars from Maven Central, resolved once by the Ivy inside PySpark and kept per user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from itertools import count
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.dev.maven import retrieve
from connect_core.errors import ConnectError
from connect_core.settings.user_cache import user_cache

__all__ = ["KAFKA_VERSION", "kafka_jars", "kafka_jars_cached", "maven_jars"]

KAFKA_VERSION = "4.3.1"
_PARALLEL = 4


def kafka_jars_cached() -> Path | None:
    """Return the folder of Kafka's jars if it is complete, else ``None``."""
    return _complete(user_cache() / f"kafka-{KAFKA_VERSION}")


def kafka_jars(show: Callable[[str], None]) -> Path:
    """Return the folder of Kafka's jars, downloading them when needed. As ``maven_jars``."""
    modules = resources.files("connect_core.dev").joinpath("kafka_jars.txt").read_text().split()
    return maven_jars(f"kafka-{KAFKA_VERSION}", modules, show)


def maven_jars(name: str, modules: Sequence[str], show: Callable[[str], None]) -> Path:
    """Return the folder ``name`` of the user's cache with the jars of modules, ``group:name:version`` each.

    They are downloaded when needed, by the Ivy inside PySpark. ``show`` gets a
    line of progress per jar. Raises ConnectError without a network. Concurrent
    callers wait for the first one.
    """
    folder = user_cache() / name
    if (cached := _complete(folder)) is not None:
        return cached
    folder.parent.mkdir(parents=True, exist_ok=True)
    with Home(folder.parent, Path.cwd()).lock(f"{name}.lock"):
        return _complete(folder) or _download(folder, modules, show)


def _complete(folder: Path) -> Path | None:
    return folder if (folder / "complete").exists() else None


def _download(folder: Path, modules: Sequence[str], show: Callable[[str], None]) -> Path:
    scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    done = count(1)

    def advance() -> None:
        show(f"{folder.name}: jar {next(done)} of {len(modules)}")

    show(f"{folder.name}: resolving {len(modules)} jars")
    try:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            parts = [modules[part::_PARALLEL] for part in range(_PARALLEL)]
            calls = [pool.submit(retrieve, scratch / f"part-{n}", part, advance) for n, part in enumerate(parts)]
            for call in calls:
                call.result()
        _publish(scratch, folder, len(modules))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _publish(scratch: Path, folder: Path, expected: int) -> None:
    jars = list(scratch.glob("part-*/lib/*.jar"))
    if len(jars) != expected:
        raise ConnectError(f"Only {len(jars)} of {expected} jars for {folder.name} could be downloaded: try again.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for jar in jars:
        jar.replace(folder / jar.name)
    (folder / "complete").touch()
