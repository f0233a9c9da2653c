"""A Spark standalone cluster of real processes that share no folder but those that are named.

A master, two workers and a Spark Connect server, each with working, temporary and home folders of its own. Where that
is allowed (as root), each also has a mount namespace: the checkout's code is not in it, and a folder that is local to
each machine is another one for each. Elsewhere executors have a Python that cannot import connect-core.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import psutil

from connect_core.dev.java import find_java
from connect_core.dev.maven import spark_home
from connect_core.dev.ports import is_open
from connect_core.dev.spark_processes import LOGGING
from tests.integration.ports import free_port

__all__ = ["MASTER", "SERVER", "WORKERS", "SparkCluster"]

MASTER, SERVER, WORKERS = "master", "server", ("worker-1", "worker-2")
_HOSTS: Mapping[str, str] = MappingProxyType({"worker-1": "127.0.0.2", "worker-2": "127.0.0.3"})
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SECONDS = 240.0
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SETTINGS = """\
spark.master                                        {master}
spark.cores.max                                     8
spark.connect.grpc.binding.address                  127.0.0.1
spark.connect.grpc.binding.port                     {server}
spark.connect.session.manager.defaultSessionTimeout -1
spark.deploy.recoveryMode                           FILESYSTEM
spark.deploy.recoveryDirectory                      {recovery}
spark.driver.bindAddress                            127.0.0.1
spark.driver.extraJavaOptions                       {jvm}
spark.driver.host                                   127.0.0.1
spark.driver.memory                                 1g
spark.executor.extraJavaOptions                     {jvm}
spark.executor.memory                               512m
spark.master.rest.enabled                           false
spark.scheduler.mode                                FAIR
spark.sql.session.timeZone                          UTC
spark.ui.port                                       {ui}
spark.ui.showConsoleProgress                        false
"""
_LOGGING = f"{LOGGING}logger.master.name = org.apache.spark.deploy\nlogger.master.level = info\n"


@dataclass(slots=True)
class SparkCluster:
    """The cluster's processes: started, killed and started again by name."""

    folder: Path
    python: Path
    """The executors' Python."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the processes have besides their own variables."""
    hidden: Sequence[Path] = ()
    """Folders that are empty to the cluster."""
    local: Sequence[Path] = ()
    """Folders that are other ones on each machine."""
    cores: int = 6
    """Of each worker."""
    settings: str = ""
    """Further lines of spark-defaults.conf."""
    ports: Mapping[str, int] = field(default_factory=lambda: {name: free_port() for name in (MASTER, SERVER, "ui")})
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Write the settings all processes read."""
        self.conf.mkdir(parents=True)
        self._recovery.mkdir()
        places = {"master": self.master, "server": self.ports[SERVER], "ui": self.ports["ui"]}
        given = _SETTINGS.format(**places, recovery=self._recovery, jvm=_JVM)
        (self.conf / "spark-defaults.conf").write_text(given + self.settings)
        (self.conf / "log4j2.properties").write_text(_LOGGING)

    @property
    def conf(self) -> Path:
        """The folder of Spark's settings."""
        return self.folder / "conf"

    @property
    def _recovery(self) -> Path:
        return self.folder / "recovery"

    @property
    def master(self) -> str:
        """The master's URL."""
        return f"spark://127.0.0.1:{self.ports[MASTER]}"

    def exports(self) -> dict[str, str]:
        """Return the variables by which connectors find the cluster."""
        # Spark's client sends a token without TLS to the host name "localhost" only.
        return {
            "CONNECT_SPARK_REMOTE": f"sc://localhost:{self.ports[SERVER]}/;token={self.token}",
            "CONNECT_SPARK_UI": f"http://127.0.0.1:{self.ports['ui']}",
        }

    @staticmethod
    def is_separated() -> bool:
        """Return whether processes can have folders of their own."""
        return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0

    def start(self, *names: str) -> None:
        """Start processes, all if none is named, and wait until the master and the server answer."""
        for name in names or (MASTER, *WORKERS, SERVER):
            self.processes[name] = self._launch(name)
            if name in self.ports:
                self._await_port(name)

    def kill(self, *names: str) -> None:
        """Kill processes, all if none is named, and what they have started: as when their machine fails."""
        for name in names or tuple(self.processes):
            process = self.processes.pop(name)
            family = _family(process.pid)
            process.kill()
            for one in family:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait()

    def children(self, name: str) -> list[psutil.Process]:
        """Return what a process has started: a worker its executors, and these their Python processes."""
        return _family(self.processes[name].pid)

    def log(self) -> str:
        """Return what all processes have written."""
        files = (*self.folder.glob("*.log"), *self.folder.rglob("stderr"))
        return "\n".join(f"--- {file}\n{file.read_text(errors='replace')}" for file in sorted(files))

    def _await_port(self, name: str) -> None:
        end = time.monotonic() + _SECONDS
        while not is_open(self.ports[name]):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"Spark's {name} does not start: {self.log()[-3000:]}")
            time.sleep(0.1)

    def _launch(self, name: str) -> subprocess.Popen[bytes]:
        home = self.folder / name
        own = {place: home / place for place in ("home", "tmp", "work")}
        for place in own.values():
            place.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            **self.environment,
            "HOME": str(own["home"]),
            "JAVA_HOME": str(find_java().resolve().parents[1]),
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_CONF_DIR": str(self.conf),
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": self.token,
            "SPARK_DAEMON_JAVA_OPTS": _JVM,
            # To spark-submit, a Spark Connect server is a daemon as well.
            "SPARK_DAEMON_MEMORY": "1g" if name == SERVER else "256m",
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_DIRS": str(own["tmp"]),
            "SPARK_LOCAL_IP": _HOSTS.get(name, "127.0.0.1"),
            "TMPDIR": str(own["tmp"]),
        }
        command = self._apart(name, self._command(name, own["work"]))
        with (self.folder / f"{name}.log").open("ab") as output:
            return subprocess.Popen(command, cwd=own["work"], env=environment, stdout=output, stderr=output)

    def _command(self, name: str, work: Path) -> list[str]:
        programs = spark_home() / "bin"
        if name == SERVER:
            return [str(programs / "spark-submit"), "--class", _CONNECT, "spark-internal"]
        start = [str(programs / "spark-class")]
        if name == MASTER:
            place = ["--host", "127.0.0.1", "--port", str(self.ports[MASTER]), "--webui-port", "0"]
            return [*start, "org.apache.spark.deploy.master.Master", *place]
        place = ["--host", _HOSTS[name], "--cores", str(self.cores), "--memory", "2g", "--webui-port", "0"]
        return [*start, "org.apache.spark.deploy.worker.Worker", *place, "--work-dir", str(work), self.master]

    def _apart(self, name: str, command: list[str]) -> list[str]:
        """Return the command in a mount namespace of its own, where that is possible."""
        if not (self.hidden or self.local) or not self.is_separated():
            return command
        empty = self.folder / "empty"
        empty.mkdir(exist_ok=True)
        mounts = [(empty, hidden) for hidden in self.hidden]
        for number, folder in enumerate(self.local):
            own = self.folder / name / f"local-{number}"
            own.mkdir(exist_ok=True)
            folder.mkdir(parents=True, exist_ok=True)
            mounts.append((own, folder))
        lines = [f"mount --bind {shlex.quote(str(source))} {shlex.quote(str(place))}" for source, place in mounts]
        return ["unshare", "--mount", "sh", "-c", " && ".join([*lines, 'exec "$@"']), name, *command]


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
