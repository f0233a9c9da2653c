"""Spark sessions: one shared Spark Connect session per deployment, or a local one."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from connect_core.errors import RetriableError
from connect_core.spark.class_archive import archive_options, class_archive
from connect_core.spark.code import CodeArchive, build_archive
from connect_core.spark.pools import FAIR_POOL

__all__ = ["SessionSettings", "local_session", "shared_session"]

_LOG = logging.getLogger(__name__)
_NAMESPACE = uuid.UUID("6f1f3a0e-52d5-4c5b-9d0e-6c6f6e6e6563")
_JVM_OPTIONS = "spark.driver.extraJavaOptions"
_LOCAL = {
    "spark.api.mode": "classic",
    "spark.driver.bindAddress": "127.0.0.1",
    # Its JVM only schedules tasks: half the CPU time of its start is C2 and the parallel collector.
    _JVM_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.scheduler.allocation.file": str(FAIR_POOL),
    "spark.scheduler.mode": "FAIR",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}
_LONGEST_WAIT_MILLISECONDS, _TRIES = 1000, 600
_DEAD = ("SESSION_CLOSED", "SESSION_CHANGED", "INVALID_HANDLE.SESSION")


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Where Spark is: ``remote`` is a ``sc://`` address with its token."""

    deployment: str
    remote: str
    archive_folder: Path


def shared_session(settings: SessionSettings) -> Any:
    """Return the deployment's session on the Spark Connect server.

    Its id is derived from deployment, code and Python version, so that a restarted driver finds the warm session. A
    timed-out id can never be used again: the generation is then raised, once. Raises RetriableError if the server is
    unreachable.
    """
    archive = build_archive(settings.archive_folder)
    for generation in range(2):
        session_id = uuid.uuid5(_NAMESPACE, f"{settings.deployment} {archive.digest} {sys.version} {generation}")
        try:
            return _attach(settings.remote, session_id, archive)
        except Exception as error:
            if not any(text in str(error) for text in _DEAD):
                where = settings.remote.partition(";")[0]
                raise RetriableError(
                    f"Spark Connect does not respond at {where}: {error}. Start it (connect dev up), or correct "
                    "CONNECT_SPARK_REMOTE."
                ) from error
            _LOG.warning("spark session %s is dead, generation %d follows", session_id, generation + 1)
    raise RetriableError("two generations of the shared Spark session are dead; restart the Spark Connect server")


_REMOTE = ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED")


def _attach(remote: str, session_id: uuid.UUID, archive: CodeArchive) -> Any:
    address = f"{remote.rstrip(';')};session_id={session_id}"
    session: Any = SparkSession.builder.remote(address).create()
    session.client._release_session_on_close = False
    _wait_shortly(session.client.get_retry_policies())
    # The exit hook retries for ten minutes if the server has gone before this process; there is nothing to clean up.
    atexit.unregister(session.client._on_exit)
    session.addArtifacts(str(archive.path), pyfile=True)
    return session


def _wait_shortly(policies: Iterable[Any]) -> None:
    """Let a client retry every second to reach a server that died, for about as long as it would anyway.

    Spark's own delays grow fourfold, up to a minute: a server that is back after ten seconds would be noticed after
    seventeen, one that takes longer after 68.
    """
    for policy in policies:
        policy.max_backoff, policy.max_retries = _LONGEST_WAIT_MILLISECONDS, _TRIES


def local_session(name: str, jvm_options: str | None = None) -> Any:
    """Return a Spark session inside this process, with a slot for each of 16 waiting tasks.

    ``jvm_options`` are given to its JVM in place of those that use an archive of its classes.
    """
    options = archive_options(class_archive()) if jvm_options is None else jvm_options
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Left in the environment by a shell or the parent process, they request a Spark Connect server.
    for variable in _REMOTE:
        os.environ.pop(variable, None)
    builder: Any = SparkSession.builder.master("local[16,1]").appName(name)
    for key, value in _LOCAL.items():
        builder = builder.config(key, value)
    builder = builder.config(_JVM_OPTIONS, f"{_LOCAL[_JVM_OPTIONS]} {options}".strip())
    return builder.getOrCreate()
