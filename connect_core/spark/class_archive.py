"""An archive of the classes that Spark's JVM loads, with which it starts in half the time (JEP 350).

``python -m connect_core.spark.class_archive`` writes it; it takes about 150 MB in the user's cache.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from connect_core.settings.private_folder import is_private_file
from connect_core.settings.user_cache import user_cache

__all__ = ["archive_options", "class_archive", "main", "write_archive", "write_archive_later"]

_LOG = logging.getLogger(__name__)
_QUIET = "-Xlog:cds*=off"
"""A JVM that cannot use or write an archive goes on without it; its warnings would be in the worker's output."""
_DUMP_SECONDS = 300.0
_LOOK_SECONDS = 0.5


def class_archive() -> Path:
    """Return where the archive for this Java and this Spark is."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else Path(shutil.which("java") or "java")
    found = java.resolve()
    changed = found.stat().st_mtime_ns if found.exists() else 0
    spark = os.environ.get("SPARK_HOME") or sys.prefix
    digest = hashlib.sha256(f"{found} {changed} {spark} {version('pyspark')}".encode()).hexdigest()[:12]
    return user_cache() / f"spark-classes-{digest}.jsa"


def archive_options(file: Path) -> str:
    """Return the JVM options that use an archive; none where there is no archive of this user's."""
    is_usable = is_private_file(file) and file.stat().st_size > 0
    return f'"-XX:SharedArchiveFile={file}" -Xshare:auto {_QUIET}' if is_usable else ""


def write_archive(file: Path) -> bool:
    """Start Spark in this process, run a job, and write the archive when the JVM ends → whether it was written.

    Where the JVM writes none, an empty file is left, so that it is not tried again.
    """
    from connect_core.spark.session import local_session

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = _draft(file, os.getpid())
    session = local_session("class-archive", f'"-XX:ArchiveClassesAtExit={draft}" {_QUIET}')
    session.range(0, 1, 1, 1).mapInArrow(_unchanged, "id long").collect()
    jvm: subprocess.Popen[bytes] = session.sparkContext._gateway.proc
    session.stop()
    assert jvm.stdin is not None
    jvm.stdin.close()
    try:
        jvm.wait(_DUMP_SECONDS)
    except subprocess.TimeoutExpired:
        jvm.kill()
        draft.unlink(missing_ok=True)
    is_written = draft.exists()
    draft.touch()
    draft.chmod(0o600)
    draft.replace(file)
    return is_written


def _draft(file: Path, pid: int) -> Path:
    """Return where the process that writes the archive has it written."""
    return file.with_suffix(f".{pid}.part")


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def write_archive_later(stopping: threading.Event, after_seconds: float) -> threading.Thread:
    """Write the archive in a process of low priority, unless it exists or the worker stops before."""
    thread = threading.Thread(target=_write_later, args=(stopping, after_seconds), name="class-archive", daemon=True)
    thread.start()
    return thread


def _write_later(stopping: threading.Event, after_seconds: float) -> None:
    file = class_archive()
    if file.exists() or stopping.wait(after_seconds):
        return
    nothing: Any = subprocess.DEVNULL
    command = [sys.executable, "-m", "connect_core.spark.class_archive"]
    # A session of its own, so that its JVM is killed with it: that would go on to write what nobody renames.
    with subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True) as process:
        while process.poll() is None:
            if stopping.wait(_LOOK_SECONDS):
                os.killpg(process.pid, signal.SIGKILL)
                break
    _draft(file, process.pid).unlink(missing_ok=True)
    if file.exists():
        _LOG.info("Spark's classes are archived in %s: the next start takes half the time", file)


def main() -> int:
    """Write the archive at the lowest priority; 1 where the JVM writes none."""
    os.nice(19)
    return 0 if write_archive(class_archive()) else 1


if __name__ == "__main__":
    sys.exit(main())
