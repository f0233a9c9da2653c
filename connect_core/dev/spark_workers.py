"""``connect doctor`` asks Spark's workers, by a small job, for what connectors need there."""

from __future__ import annotations

import json
import re
import secrets
import socket
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.errors import PySparkException

from connect_core.dev.checks import Finding, fail, passed, skip
from connect_core.errors import ConnectError
from connect_core.spark.remote import environment_settings, remote_runner
from connect_core.spark.runner import interrupt_tag
from connect_core.spark.worker_facts import Wanted, collect_facts

__all__ = ["check_spark_workers", "packages_by_extra", "workers_finding"]

_SUBJECT = "workers"
_SECONDS = 60.0
_OF_TASKS = ("", "avro", "azure", "delta", "gcs", "hdfs", "iceberg", "jdbc", "s3", "schema-registry")
"""Extras that tasks need, the empty one for connect-core's own dependencies."""
_NAME, _EXTRA = re.compile(r"[A-Za-z0-9._-]+"), re.compile(r"extra == ['\"]([^'\"]+)['\"]")
_MISSING = re.compile(r"ModuleNotFoundError: [^\n]+")
_PYTHON = "Set PYSPARK_PYTHON of the Spark Connect server to a Python {} that all workers have at that path."


def check_spark_workers(environment: Mapping[str, str]) -> Finding:
    """Check Python, packages and folders of Spark's workers."""
    remote = environment.get("CONNECT_SPARK_REMOTE")
    if not remote:
        return skip(_SUBJECT, "CONNECT_SPARK_REMOTE is not set")
    parts = urlsplit(remote)
    if not _answers(parts.hostname or "", parts.port or 15002):
        return skip(_SUBJECT, "Spark does not answer")
    try:
        settings = environment_settings()
        with _probes(settings.file_roots) as files:
            return workers_finding(remote_runner(settings).session, Wanted(packages_by_extra(), files))
    except ConnectError as error:
        return fail(_SUBJECT, str(error), "Correct what is named.")


def workers_finding(session: Any, wanted: Wanted, seconds: float = _SECONDS) -> Finding:
    """Return what the workers of a session lack."""
    ended = _Job(session, wanted).ended(seconds)
    if ended is None:
        remedy = (
            "Start Spark's workers, or leave them free cores: on a standalone cluster each application takes all that "
            "spark.cores.max does not deny it."
        )
        return fail(_SUBJECT, f"no task has ended in {seconds:.0f} s", remedy)
    if isinstance(ended, Exception):
        return _failed(ended)
    found = [json.loads(text) for text in ended]
    for one in found:
        for folder in one["folders"]:
            remedy = "Mount it on all machines, or let connectors write to an object store."
            return fail(_SUBJECT, f"{folder} of file.roots is another folder on {one['host']} than here", remedy)
    for one in found:
        if names := one["packages"].get(""):
            lacks = f"{one['host']} lacks {', '.join(names)}"
            return fail(_SUBJECT, lacks, "Install 'connect-core' in the workers' Python.")
    extras = sorted({f"[{extra}]" for one in found for extra in one["packages"]})
    lacking = f"; for connectors that need it, install 'connect-core{', '.join(extras)}' there" if extras else ""
    hosts = len({one["host"] for one in found})
    return passed(_SUBJECT, f"{hosts} host(s) have Python, packages and folders as here{lacking}")


def _failed(error: Exception) -> Finding:
    here, text = f"{sys.version_info.major}.{sys.version_info.minor}", str(error)
    if "PYTHON_VERSION_MISMATCH" in text:
        return fail(_SUBJECT, f"their Python is not {here}, as here", _PYTHON.format(here))
    if "Cannot run program" in text:
        return fail(_SUBJECT, "there is no Python at the path of PYSPARK_PYTHON", _PYTHON.format(here))
    if missing := _MISSING.search(text):
        return fail(_SUBJECT, missing[0], "Install connect-core in the workers' Python.")
    return fail(_SUBJECT, f"a small job fails: {text.splitlines()[0]}", "See the log of the Spark Connect server.")


def packages_by_extra() -> dict[str, list[str]]:
    """Return the packages of each extra of tasks, of those extras that are installed here."""
    lines = distribution("connect-core").requires or ()
    found = {extra: sorted(_packages(lines, extra)) for extra in _OF_TASKS}
    return {extra: names for extra, names in found.items() if names and all(map(_is_installed, names))}


def _packages(lines: Iterable[str], extra: str) -> Iterator[str]:
    for line in lines:
        wanted, _, marker = line.partition(";")
        given = _EXTRA.search(marker)
        name = _NAME.match(wanted.strip())
        if name is not None and name[0] != "connect-core" and (given[1] if given else "") == extra:
            yield name[0]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


class _Job:
    """A job in a thread of its own: where no worker is free, it would never end."""

    def __init__(self, session: Any, wanted: Wanted) -> None:
        self._session, self._wanted = session, wanted
        self._tag = f"connect-doctor-{secrets.token_hex(4)}"
        self._ended: set[str] | Exception | None = None

    def ended(self, seconds: float) -> set[str] | Exception | None:
        """Return what came of it; None: nothing in this time."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        thread.join(seconds)
        if self._ended is None:
            with suppress(PySparkException):
                interrupt_tag(self._session, self._tag)
        return self._ended

    def _run(self) -> None:
        try:
            self._session.addTag(self._tag)
            self._ended = collect_facts(self._session, self._wanted)
        except PySparkException as error:
            self._ended = error


@contextmanager
def _probes(roots: Iterable[Path]) -> Iterator[dict[str, str]]:
    """Put a file into each folder that can be written → its name by folder; remove them at the end."""
    name = f".connect-doctor-{secrets.token_hex(8)}"
    files = {}
    for root in roots:
        with suppress(OSError):
            Path(root, name).touch(exist_ok=False)
            files[str(root)] = name
    try:
        yield files
    finally:
        for folder in files:
            with suppress(OSError):
                Path(folder, name).unlink()


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError:
        return False
    return True
