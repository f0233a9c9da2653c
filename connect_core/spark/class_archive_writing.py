"""Writes the archive of the classes that Spark's JVM loads: ``python -m connect_core.spark.class_archive_writing``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from connect_core.spark.class_archive import QUIET, class_archive, draft_of
from connect_core.spark.session import local_session

__all__ = ["main", "write_archive"]

_DUMP_SECONDS = 300.0


def write_archive(file: Path) -> bool:
    """Start Spark in this process, run a job, and write the archive when the JVM ends → whether it was written.

    Where the JVM writes none, an empty file is left, so that it is not tried again.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = draft_of(file, os.getpid())
    session = local_session("class-archive", f'"-XX:ArchiveClassesAtExit={draft}" {QUIET}')
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


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def main() -> int:
    """Write the archive at the lowest priority; 1 where the JVM writes none."""
    os.nice(19)
    return 0 if write_archive(class_archive()) else 1


if __name__ == "__main__":
    sys.exit(main())
