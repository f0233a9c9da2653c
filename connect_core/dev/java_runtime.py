"""Connect's Java runtime, which Java plugins need, and the host's jar, which is built against it."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from connect_core.dev.jars import maven_jars
from connect_core.dev.java import find_java
from connect_core.java_host.jar import HOST_JAR
from connect_core.java_plugins.plugins import default_libs

__all__ = ["build_host", "compiler", "java_runtime"]

SOURCES = HOST_JAR.parent / "src"
_COMPILER = "org.eclipse.jdt:ecj:3.38.0"
"""It runs on a JRE, and produces the same classes on every machine."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def java_runtime(show: Callable[[str], None]) -> Path:
    """Return the folder of Connect's runtime, downloading it when needed. As ``maven_jars``."""
    modules = resources.files("connect_core.dev").joinpath("java_runtime_jars.txt").read_text().split()
    return maven_jars(default_libs().name, modules, show)


def compiler(show: Callable[[str], None]) -> Path:
    """Return the jar of a Java compiler. As ``maven_jars``."""
    return next(maven_jars("ecj-3.38.0", [_COMPILER], show).glob("*.jar"))


def build_host(folder: Path, show: Callable[[str], None]) -> Path:
    """Compile the host's sources into ``folder`` and return the jar. Raises ConnectError without a network."""
    libs = ":".join(map(str, sorted(java_runtime(show).glob("*.jar"))))
    command = [str(find_java()), "-jar", str(compiler(show)), "-17", "-g:lines,source", "-nowarn", "-encoding", "UTF-8"]
    with TemporaryDirectory() as classes:
        subprocess.run([*command, "-d", classes, "-cp", libs, str(SOURCES)], check=True)
        return _packed(Path(classes), folder / HOST_JAR.name)


def _packed(classes: Path, jar: Path) -> Path:
    """Pack classes into a jar and return it: the same bytes for the same classes."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(classes.rglob("*.class")):
            entry = zipfile.ZipInfo(str(file.relative_to(classes)), _LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, file.read_bytes())
    return jar
