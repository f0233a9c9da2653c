"""An archive of the classes that Spark's JVM loads, with which it starts in half the time (JEP 350).

``python -m connect_core.spark.class_archive_writing`` writes it; it takes about 150 MB in the user's cache.
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
from importlib.metadata import version
from pathlib import Path
from typing import Any

from connect_core.settings.private_folder import is_private_file
from connect_core.settings.user_cache import user_cache

__all__ = ["QUIET", "archive_options", "class_archive", "draft_of", "write_archive_later"]

_LOG = logging.getLogger(__name__)
QUIET = "-Xlog:cds*=off"
"""A JVM that cannot use or write an archive goes on without it; its warnings would be in the worker's output."""
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
    return f'"-XX:SharedArchiveFile={file}" -Xshare:auto {QUIET}' if is_usable else ""


def draft_of(file: Path, pid: int) -> Path:
    """Return where the process that writes the archive has it written."""
    return file.with_suffix(f".{pid}.part")


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
    command = [sys.executable, "-m", "connect_core.spark.class_archive_writing"]
    # A session of its own, so that its JVM is killed with it: that would go on to write what nobody renames.
    with subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True) as process:
        while process.poll() is None:
            if stopping.wait(_LOOK_SECONDS):
                os.killpg(process.pid, signal.SIGKILL)
                break
    draft_of(file, process.pid).unlink(missing_ok=True)
    if file.exists():
        _LOG.info("Spark's classes are archived in %s: the next start takes half the time", file)
