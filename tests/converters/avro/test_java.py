"""Java's Avro takes every schema and body that is written, and writes the same itself, byte for byte.

Its classes are those that PySpark brings.
"""

from __future__ import annotations

import base64
import subprocess
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from connect_core.api.data import Schema
from connect_core.dev.java import find_java
from connect_core.dev.java_runtime import compiler
from tests.api.data.strategies import schemas, values_of
from tests.converters.avro.making import made
from tests.converters.avro.samples import EVERYTHING, everything
from tests.converters.lanes import write_by_record
from tests.full_run import examples
from tests.java_plugins.equipment import silent
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

EXAMPLES = examples(30, 300)
PROGRAM = Path(__file__).parent / "java" / "CheckAvro.java"


def by_java(lines: list[str]) -> list[str]:
    """Return what Java makes of schemas and bodies."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jars = Path(spec.origin).parent / "jars"
    wanted = (
        "avro-1",
        "jackson-core-2",
        "jackson-databind-2",
        "jackson-annotations-2",
        "slf4j-api",
        "commons-compress",
    )
    path = ":".join(str(jar) for name in wanted for jar in jars.glob(f"{name}*.jar"))
    java = str(find_java())
    text = "\n".join(lines) + "\n"
    with TemporaryDirectory() as classes:
        compile_ = [java, "-jar", str(compiler(silent)), "-17", "-nowarn", "-d", classes, "-cp", path, str(PROGRAM)]
        subprocess.run(compile_, capture_output=True, timeout=120, check=True)
        command = [java, "-cp", f"{classes}:{path}", PROGRAM.stem]
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=120, check=True)
    return done.stdout.decode().split("\n")[:-1]


def line_of(schema: Schema | None, values: list[Any]) -> str | None:
    """Return the Avro schema and the bodies of values as a line, ``None`` where Avro has no word for the schema."""
    registry = MemoryRegistry()
    written = write_by_record(made(registry, scrub_invalid_names="true"), schema, values)
    bodies = [base64.b64encode(message[5:]).decode() for message in written if isinstance(message, bytes)]
    return f"{registry.by_id(1).schema.text}\t{' '.join(bodies)}" if bodies else None


def test_java_writes_the_same() -> None:
    lines: list[str | None] = [line_of(EVERYTHING, [everything(number) for number in (0, 1, 2)])]
    lines.append(line_of(None, [{"a": [1, None, 2.5, "x", b"y", True, {}]}]))

    @settings(max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(typed=schemas.flatmap(lambda schema: values_of(schema).map(lambda value: (schema, value))))
    def collect(typed: tuple[Schema, Any]) -> None:
        lines.append(line_of(typed[0], [typed[1]]))

    collect()
    # Java reads maps into hash maps, whose order is another.
    given_lines = [line for line in lines if line is not None and '"type":"map"' not in line]
    assert len(given_lines) > EXAMPLES / 3
    assert by_java(given_lines) == given_lines


def test_java_reads_maps() -> None:
    line = line_of(EVERYTHING, [everything(number) for number in range(8)])
    assert line is not None
    text, bodies = by_java([line])[0].split("\t")
    own_text, own_bodies = line.split("\t")
    assert text == own_text
    assert [sorted(one) for one in map(base64.b64decode, bodies.split())] == [
        sorted(one) for one in map(base64.b64decode, own_bodies.split())
    ]
