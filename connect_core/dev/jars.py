"""Jars from Maven Central, resolved once by the Ivy inside PySpark and kept per user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from connect_core.dev.home import Home
from connect_core.dev.java import find_java
from connect_core.errors import ConnectError
from connect_core.settings.user_cache import user_cache

__all__ = ["KAFKA_VERSION", "kafka_jars", "kafka_jars_cached", "maven_jars", "maven_mirror", "spark_home"]

KAFKA_VERSION = "4.3.1"
_PARALLEL = 4
_RETRIEVED = re.compile(r"\[SUCCESSFUL \]")


def spark_home() -> Path:
    """Return the folder of the installed PySpark."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ConnectError("pyspark is not installed: pip install 'connect-core[dev-stack]'")
    return Path(spec.origin).parent


def kafka_jars_cached() -> Path | None:
    """Return the folder of Kafka's jars when all are there."""
    return _complete(user_cache() / f"kafka-{KAFKA_VERSION}")


def kafka_jars(show: Callable[[str], None]) -> Path:
    """Return the folder of Kafka's jars, downloading them when needed. As ``maven_jars``."""
    modules = resources.files("connect_core.dev").joinpath("kafka_jars.txt").read_text().split()
    return maven_jars(f"kafka-{KAFKA_VERSION}", modules, show)


def maven_jars(name: str, modules: Sequence[str], show: Callable[[str], None]) -> Path:
    """Return the folder ``name`` of the user's cache with the jars of modules, ``group:name:version`` each.

    They are downloaded when needed, by the Ivy inside PySpark. ``show`` gets a
    line of progress per jar. Raises ConnectError without a network. Callers at
    the same time wait for the first one.
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
    java = find_java()

    def advance() -> None:
        show(f"{folder.name}: jar {next(done)} of {len(modules)}")

    show(f"{folder.name}: resolving {len(modules)} jars")
    try:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            parts = [modules[part::_PARALLEL] for part in range(_PARALLEL)]
            calls = [pool.submit(_ivy, java, scratch / f"part-{n}", part, advance) for n, part in enumerate(parts)]
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


def _ivy(java: Path, scratch: Path, modules: Sequence[str], advance: Callable[[], None]) -> None:
    scratch.mkdir(parents=True)
    (scratch / "ivy.xml").write_text(_module_file(modules))
    (scratch / "settings.xml").write_text(_settings_file(scratch / "cache"))
    ivy = next((spark_home() / "jars").glob("ivy-*.jar"))
    command = [str(java), *_proxy_options(), "-jar", str(ivy), "-settings", str(scratch / "settings.xml")]
    command += ["-ivy", str(scratch / "ivy.xml"), "-confs", "default", "-cache", str(scratch / "cache")]
    command += ["-retrieve", str(scratch / "lib" / "[artifact]-[revision].[ext]")]
    output: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            output.append(line)
            if _RETRIEVED.search(line):
                advance()
    if process.returncode != 0 or any("UNRESOLVED DEPENDENCIES" in line for line in output):
        sys.stderr.write("".join(output[-20:]))
        raise ConnectError(
            "Jars could not be downloaded from the Maven repository: check the network"
            " (behind a firewall, name your mirror in ~/.m2/settings.xml, your proxy in https_proxy), then try again."
        )


def _module_file(modules: Iterable[str]) -> str:
    lines = []
    for module in modules:
        group, name, revision = module.split(":")
        lines.append(
            f'<dependency org="{group}" name="{name}" rev="{revision}" transitive="false" conf="default->default"/>'
        )
    return (
        '<ivy-module version="2.0"><info organisation="connect" module="kafka"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(lines)}</dependencies></ivy-module>"
    )


def _settings_file(cache: Path) -> str:
    mirror = maven_mirror(Path.home() / ".m2" / "settings.xml")
    root = f" root={quoteattr(mirror)}" if mirror else ""
    return (
        f'<ivysettings><settings defaultResolver="central"/><caches defaultCacheDir={quoteattr(str(cache))}/>'
        f'<resolvers><ibiblio name="central" m2compatible="true" usepoms="false"{root}/></resolvers></ivysettings>'
    )


def maven_mirror(settings: Path) -> str | None:
    """Return the address by which a Maven settings file replaces Central."""
    if not settings.is_file():
        return None
    try:
        tree = ElementTree.parse(settings)
    except ElementTree.ParseError as error:
        raise ConnectError(f"{settings} is not well-formed XML ({error}): correct or remove it.") from error
    for mirror in tree.iterfind(".//{*}mirror"):
        patterns = (mirror.findtext("{*}mirrorOf") or "").replace(" ", "").split(",")
        if not {"central", "*", "external:*"}.isdisjoint(patterns):
            return (mirror.findtext("{*}url") or "").strip() or None
    return None


def _proxy_options() -> list[str]:
    options = []
    for scheme in ("http", "https"):
        proxy = os.environ.get(f"{scheme}_proxy") or os.environ.get(f"{scheme}_proxy".upper())
        if proxy:
            parts = urlsplit(proxy)
            options += [f"-D{scheme}.proxyHost={parts.hostname}", f"-D{scheme}.proxyPort={parts.port or 80}"]
    return options
