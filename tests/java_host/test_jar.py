"""The host's jar is found where the code is in a zip, as it is on Spark workers."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from connect_core.java_host.jar import HOST_JAR, host_jar
from connect_core.spark.code import build_archive

PROGRAM = "from connect_core.java_host import jar; print(jar.__file__); print(jar.host_jar())"


def found_in_a_zip(archive: Path, temporary: Path) -> tuple[str, Path]:
    """Return where a process that has the zip as its code finds the module and the jar."""
    environment = {**os.environ, "PYTHONPATH": str(archive), "TMPDIR": str(temporary)}
    command = [sys.executable, "-P", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, cwd=temporary, capture_output=True, text=True, check=True)
    module, jar = done.stdout.split()
    return module, Path(jar)


def test_the_package_s_own_file_is_used() -> None:
    assert host_jar() == HOST_JAR
    assert zipfile.is_zipfile(HOST_JAR)


def test_a_copy_is_used_where_the_code_is_in_a_zip(tmp_path: Path) -> None:
    archive = build_archive(tmp_path / "code").path
    module, copy = found_in_a_zip(archive, tmp_path)
    assert module.startswith(str(archive))
    assert copy.read_bytes() == HOST_JAR.read_bytes()
    copy.write_bytes(b"cut off")
    assert found_in_a_zip(archive, tmp_path) == (module, copy)
    assert copy.read_bytes() == HOST_JAR.read_bytes()
