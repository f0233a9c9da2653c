"""The real classes of Kafka Connect in a JVM of their own: cases in, what they did out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect_core.dev.jars import KAFKA_VERSION, kafka_jars, maven_jars
from connect_core.dev.java import find_java
from tests.conformance.case import Case

__all__ = ["ConnectClasses", "connect_classes"]

Json = Any
_SOURCES = Path(__file__).parent / "oracle"
_MODULES = (
    *(f"org.apache.kafka:connect-{part}:{KAFKA_VERSION}" for part in ("api", "json", "runtime", "transforms")),
    "com.fasterxml.jackson.module:jackson-module-blackbird:2.21.2",
    # A compiler that runs on a JRE.
    "org.eclipse.jdt:ecj:3.38.0",
)


@dataclass(frozen=True, slots=True)
class ConnectClasses:
    """A running JVM; ``run`` may be called any number of times."""

    process: subprocess.Popen[str]

    def run(self, cases: Sequence[Case]) -> list[Json]:
        """Return what Connect's classes did with each case, in the form of the recorded ones."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        rows = [{"kind": one.kind, "class": one.java_class, "config": one.config, "input": one.input} for one in cases]
        answers = []
        for row in rows:
            self.process.stdin.write(json.dumps(row) + "\n\n")
            self.process.stdin.flush()
            answers.append(json.loads(self.process.stdout.readline()))
        return answers


@contextmanager
def connect_classes(folder: Path) -> Iterator[ConnectClasses]:
    """Compile the program into ``folder``, start it, and end it with the block. Raises ConnectError without jars."""
    jars = [maven_jars(f"connect-{KAFKA_VERSION}", _MODULES, print), kafka_jars(print)]
    path = ":".join([str(folder), *(f"{one}/*" for one in jars)])
    files = [str(jar) for one in jars for jar in sorted(one.glob("*.jar"))]
    compile_ = [str(find_java()), "-jar", str(next(jars[0].glob("ecj-*.jar"))), "-17", "-nowarn", "-d", str(folder)]
    subprocess.run([*compile_, "-cp", ":".join(files), *map(str, sorted(_SOURCES.glob("*.java")))], check=True)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [str(find_java()), "-Xmx512m", "-XX:+UseSerialGC", "-cp", path, "Oracle"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield ConnectClasses(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
