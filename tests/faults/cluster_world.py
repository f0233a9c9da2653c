"""Spark as a cluster of its own, a master and two workers: it runs slow tasks a second time, and failed ones again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server

import psutil

from connect_core.dev.maven import spark_home
from tests.faults.world import CHECKOUT, World

# Spark runs no second attempt on the host of the first: to it, these are two.
_HOSTS = ("127.0.0.2", "127.0.0.3")
_SETTINGS = """
spark.master spark://127.0.0.1:{port}
spark.executor.memory 512m
spark.task.maxFailures 4
spark.speculation true
spark.speculation.interval 200ms
spark.speculation.multiplier 1.1
spark.speculation.quantile 0.4
spark.speculation.task.duration.threshold 4s
"""


@dataclass(slots=True)
class ClusterWorld(World):
    """A world whose Spark has two executors, on two hosts by name, and speculates."""

    pause_seconds: float = 4.0
    """Lines must come for as long as tasks are held up."""
    _port: int = 0

    def __enter__(self) -> ClusterWorld:
        """Start the servers, and then the workers, which see the servers' settings."""
        World.__enter__(self)
        stack = self.folder / "stack" / "spark"
        environment = {**self.whole(), "PYTHONPATH": f"{stack / 'python'}{os.pathsep}{self.environment['PYTHONPATH']}"}
        for host in _HOSTS:
            place = ("--host", host, "--cores", "4", "--memory", "1g", "--work-dir", str(self.folder / host))
            self._start("worker.Worker", environment, *place, f"spark://127.0.0.1:{self._port}")
        return self

    def project(self) -> Path:
        """Start the master → a project that differs in Spark's settings only."""
        with create_server(("127.0.0.1", 0)) as server:
            self._port = int(server.getsockname()[1])
        self._start("master.Master", dict(os.environ), "--host", "127.0.0.1", "--port", str(self._port))
        config = self.folder / "project" / "config"
        config.mkdir(parents=True)
        given = (CHECKOUT / "config" / "spark-defaults.conf").read_text()
        (config / "spark-defaults.conf").write_text(given + _SETTINGS.format(port=self._port))
        return config.parent

    def _start(self, name: str, environment: dict[str, str], *arguments: str) -> None:
        command = [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--webui-port", "0"]
        command += arguments
        self._open.enter_context(_running(command, environment, self.folder / "cluster.log"))


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    """Run a server with what it starts, while the block runs."""
    with log.open("ab") as output:
        own = {"SPARK_HOME": str(spark_home()), "SPARK_NO_DAEMONIZE": "1"}
        process = subprocess.Popen(command, env={**environment, **own}, stdout=output, stderr=output)
    try:
        yield
    finally:
        for one in psutil.Process(process.pid).children(recursive=True):
            one.kill()
        process.kill()
        process.wait()
