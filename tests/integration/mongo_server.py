"""A server of MongoDB's protocol, mongo-java-server: MongoDB itself is in no package registry.

Left out: replication, transactions, some aggregations; change events do not name their collection (``ns``).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connect_core.dev.java import find_java
from connect_core.dev.java_runtime import compiler
from tests.integration.published_jars import published_jars
from tests.java_plugins.equipment import silent

__all__ = ["mongo_running"]

_SOURCE = Path(__file__).with_name("MongoServer.java")


@contextmanager
def mongo_running(folder: Path) -> Iterator[str]:
    """Run a server for the block → its address."""
    jars = published_jars("de.bwaldvogel", "mongo-java-server", "1.47.0")
    classes, libs = folder / "classes", ":".join(map(str, jars.glob("*.jar")))
    command = [str(find_java()), "-jar", str(compiler(silent)), "-17", "-nowarn", "-d", str(classes)]
    subprocess.run([*command, "-cp", libs, str(_SOURCE)], check=True)
    run = [str(find_java()), "-Xmx128m", "-cp", f"{classes}:{libs}", "MongoServer"]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"mongodb://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()
