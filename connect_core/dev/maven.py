"""Download of files by the Ivy inside PySpark: from Maven Central, or from the mirror in the user's settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from connect_core.dev.java import find_java
from connect_core.errors import ConnectError

__all__ = ["maven_mirror", "retrieve", "spark_home"]

_RETRIEVED = re.compile(r"\[SUCCESSFUL \]")


def spark_home() -> Path:
    """Return the folder of the installed PySpark."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ConnectError("pyspark is not installed: pip install 'connect-core[dev-stack]'")
    return Path(spec.origin).parent


def retrieve(scratch: Path, modules: Sequence[str], advance: Callable[[], None]) -> list[Path]:
    """Download modules into the new folder ``scratch`` → their files; ``advance`` is called after each.

    A module is ``group:name:version`` for its jar, ``group:name:version:classifier:extension`` for another file,
    whose classifier may be empty.
    Raise ConnectError without a network.
    """
    scratch.mkdir(parents=True)
    (scratch / "ivy.xml").write_text(_module_file(modules))
    (scratch / "settings.xml").write_text(_settings_file(scratch / "cache"))
    ivy = next((spark_home() / "jars").glob("ivy-*.jar"))
    command = [str(find_java()), *_proxy_options(), "-jar", str(ivy), "-settings", str(scratch / "settings.xml")]
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
            "Files could not be downloaded from the Maven repository: check the network"
            " (behind a firewall, set your mirror in ~/.m2/settings.xml, your proxy in https_proxy), then try again."
        )
    return list((scratch / "lib").glob("*"))


def _module_file(modules: Iterable[str]) -> str:
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="connect" module="files"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(map(_dependency, modules))}</dependencies></ivy-module>"
    )


def _dependency(module: str) -> str:
    group, name, version, *file = module.split(":")
    artifact = ""
    if file:
        classifier, extension = file
        traits = f'name="{name}" type="{extension}" ext="{extension}"'
        artifact = f"<artifact {traits}{f' m:classifier={quoteattr(classifier)}' if classifier else ''}/>"
    return (
        f'<dependency org="{group}" name="{name}" rev="{version}" transitive="false" conf="default->default">'
        f"{artifact}</dependency>"
    )


def _settings_file(cache: Path) -> str:
    mirror = maven_mirror(Path.home() / ".m2" / "settings.xml")
    root = f" root={quoteattr(mirror)}" if mirror else ""
    return (
        f'<ivysettings><settings defaultResolver="central"/><caches defaultCacheDir={quoteattr(str(cache))}/>'
        f'<resolvers><ibiblio name="central" m2compatible="true" usepoms="false"{root}/></resolvers></ivysettings>'
    )


def maven_mirror(settings: Path) -> str | None:
    """Return the URL of the mirror that replaces Central in a Maven settings file, if any."""
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
