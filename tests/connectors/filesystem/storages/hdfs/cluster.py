"""A real NameNode and a real DataNode: Hadoop's own classes beside the client that PySpark brings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from connect_core.dev.jars import maven_jars
from connect_core.dev.java import find_java
from connect_core.dev.maven import spark_home
from tests.integration.ports import free_port

if TYPE_CHECKING:
    import hdfs_native

__all__ = ["HdfsCluster", "hadoop_command", "hdfs_cluster", "write_site"]

_MODULE = "org.apache.hadoop:hadoop-client-minicluster:3.5.0"
_OF_SPARK = ("hadoop-client-*", "slf4j-api-*", "log4j-*", "jcl-over-slf4j-*", "leveldbjni-*", "commons-*")
_CLASSES: Mapping[str, str] = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
}
_TIMEOUT = 240.0


class HdfsCluster:
    """Both servers; the user who runs them is the file system's superuser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.conf = folder / "conf"
        names = ("namenode", "http", "data", "data-http", "data-ipc")
        self._ports = {name: free_port() for name in names}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._write_settings()
        self._java("namenode", "-format", "-nonInteractive", "-force").wait(_TIMEOUT)

    @property
    def url(self) -> str:
        """The NameNode's URL."""
        return f"hdfs://127.0.0.1:{self._ports['namenode']}"

    def client(self) -> hdfs_native.Client:
        """Return a client of its own, as a reader uses it."""
        import hdfs_native

        return hdfs_native.Client(self.url, {"dfs.client.failover.max.attempts": "1"})

    def start(self, *names: str) -> None:
        """Start servers, both if none is named, and wait until files can be written."""
        for name in names or _CLASSES:
            self._processes[name] = self._java(name)
        self.wait()

    def wait(self) -> None:
        """Wait until files can be written."""
        end = time.monotonic() + _TIMEOUT
        while not self._is_ready():
            assert time.monotonic() < end, (self.folder / "namenode.log").read_text()[-3000:]
            time.sleep(0.2)

    def kill(self, *names: str) -> None:
        """Kill servers, both if none is named, as a crash does."""
        for name in names or tuple(self._processes):
            process = self._processes.pop(name)
            process.kill()
            process.wait(_TIMEOUT)

    def send(self, name: str, number: signal.Signals) -> None:
        """Signal a server: SIGSTOP freezes it, SIGCONT lets it go on."""
        self._processes[name].send_signal(number)

    def admin(self, *arguments: str) -> None:
        """Run ``hdfs dfsadmin``."""
        command = self._command("org.apache.hadoop.hdfs.tools.DFSAdmin", *arguments)
        subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT)

    def _is_ready(self) -> bool:
        states = self._bean("FSNamesystemState"), self._bean("NameNodeInfo")
        return states[0].get("NumLiveDataNodes") == 1 and states[1].get("Safemode") == ""

    def _bean(self, name: str) -> Mapping[str, object]:
        query = f"http://127.0.0.1:{self._ports['http']}/jmx?qry=Hadoop:service=NameNode,name={name}"
        try:
            with urllib.request.urlopen(query, timeout=5) as answer:
                beans: list[Mapping[str, object]] = json.load(answer)["beans"]
        except (OSError, ValueError):
            return {}
        return beans[0] if beans else {}

    def _java(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(self._command(_CLASSES[name], *arguments), stdout=log, stderr=subprocess.STDOUT)

    def _command(self, main: str, *arguments: str) -> list[str]:
        return hadoop_command(self.conf, main, *arguments)

    def _write_settings(self) -> None:
        host = "127.0.0.1"
        self.conf.mkdir(parents=True)
        core = {"fs.defaultFS": self.url, "hadoop.tmp.dir": str(self.folder / "data")}
        hdfs = {
            "dfs.replication": "1",
            "dfs.namenode.http-address": f"{host}:{self._ports['http']}",
            "dfs.datanode.address": f"{host}:{self._ports['data']}",
            "dfs.datanode.http.address": f"{host}:{self._ports['data-http']}",
            "dfs.datanode.ipc.address": f"{host}:{self._ports['data-ipc']}",
            "dfs.datanode.hostname": host,
            "dfs.namenode.safemode.extension": "0",
            # A DataNode that died is noticed within seconds, not ten minutes.
            "dfs.heartbeat.interval": "1",
            "dfs.namenode.heartbeat.recheck-interval": "1000",
        }
        write_site(self.conf, "core", core)
        write_site(self.conf, "hdfs", hdfs)


def hadoop_command(conf: Path, main: str, *arguments: str) -> list[str]:
    """Return how a class of Hadoop's servers is started, with the settings in ``conf``."""
    jars = [str(jar) for pattern in _OF_SPARK for jar in sorted((spark_home() / "jars").glob(f"{pattern}.jar"))]
    path = [str(conf), f"{maven_jars('hdfs-3.5.0', [_MODULE], lambda line: None)}/*", *jars]
    return [
        str(find_java()),
        "-Xmx160m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        os.pathsep.join(path),
        main,
        *arguments,
    ]


def write_site(conf: Path, name: str, settings: Mapping[str, str]) -> None:
    """Write ``NAME-site.xml`` of Hadoop."""
    entries = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    (conf / f"{name}-site.xml").write_text(f"<configuration>{''.join(entries)}</configuration>")


@contextmanager
def hdfs_cluster(folder: Path) -> Iterator[HdfsCluster]:
    """Run both servers until the block ends."""
    cluster = HdfsCluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()
