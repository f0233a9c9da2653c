"""A real ResourceManager and a real NodeManager: Hadoop's own classes, from the jar that the HDFS tests use as well."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from connect_core.dev.jars import maven_jars
from tests.connectors.filesystem.storages.hdfs.cluster import hadoop_command, write_site
from tests.integration.ports import free_port

__all__ = ["YarnCluster", "yarn_cluster"]

_CLASSES: Mapping[str, str] = {
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}
_LEFT_OUT = tuple(f"org.bouncycastle:{name}-jdk18on:1.78.1" for name in ("bcprov", "bcpkix", "bcutil"))
"""What the ResourceManager needs and Hadoop's one jar for tests leaves out."""
_HOST = "127.0.0.1"
_SECONDS = 240.0
_OPENED = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")
"""Guice, in YARN's web pages, defines classes by reflection."""


class YarnCluster:
    """Both servers, with the local file system as that which all machines share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.conf = folder / "conf"
        names = ("address", "scheduler", "tracker", "admin", "web", "node", "localizer", "node-web", "collector")
        self._ports = {name: free_port() for name in names}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.conf.mkdir(parents=True)
        self._write_settings()

    def start(self) -> None:
        """Start both, and wait until the node offers its memory."""
        more = maven_jars("bouncycastle-1.78.1", _LEFT_OUT, lambda line: None)
        for name, main in _CLASSES.items():
            java, *options = hadoop_command(self.conf, main)
            place = options.index("-cp") + 1
            options[place] = os.pathsep.join((options[place], f"{more}/*"))
            with (self.folder / f"{name}.log").open("ab") as log:
                self._processes[name] = subprocess.Popen([java, *_OPENED, *options], stdout=log, stderr=log)
        end = time.monotonic() + _SECONDS
        while self._metrics().get("activeNodes") != 1:
            ended = [name for name, process in self._processes.items() if process.poll() is not None]
            assert not ended, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.3)

    def stop(self) -> None:
        """End both, and what the node runs."""
        for process in self._processes.values():
            family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            process.kill()
            for one in family:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait(_SECONDS)

    def applications(self) -> list[Mapping[str, Any]]:
        """Return what the ResourceManager tells of its applications, the newest last."""
        found = (self._get("/ws/v1/cluster/apps").get("apps") or {}).get("app") or []
        return sorted(found, key=lambda one: int(one["startedTime"]))

    def log(self) -> str:
        """Return the ends of the logs of servers and containers."""
        files = (*self.folder.glob("*.log"), *(self.folder / "logs").rglob("std*"))
        return "\n".join(f"--- {file}\n{file.read_text(errors='replace')[-4000:]}" for file in sorted(files))

    def _metrics(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._get("/ws/v1/cluster/metrics").get("clusterMetrics", {})
        return found

    def _get(self, path: str) -> Mapping[str, Any]:
        try:
            with urllib.request.urlopen(f"http://{_HOST}:{self._ports['web']}{path}", timeout=5) as answer:
                found: Mapping[str, Any] = json.load(answer)
        except (OSError, ValueError):
            return {}
        return found

    def _write_settings(self) -> None:
        at = {name: f"{_HOST}:{port}" for name, port in self._ports.items()}
        write_site(self.conf, "core", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(self.folder / "tmp")})
        yarn = {
            "yarn.resourcemanager.hostname": _HOST,
            "yarn.resourcemanager.address": at["address"],
            "yarn.resourcemanager.scheduler.address": at["scheduler"],
            "yarn.resourcemanager.resource-tracker.address": at["tracker"],
            "yarn.resourcemanager.admin.address": at["admin"],
            "yarn.resourcemanager.webapp.address": at["web"],
            "yarn.resourcemanager.scheduler.class": (
                "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
            ),
            "yarn.nodemanager.hostname": _HOST,
            "yarn.nodemanager.address": at["node"],
            "yarn.nodemanager.localizer.address": at["localizer"],
            "yarn.nodemanager.webapp.address": at["node-web"],
            "yarn.nodemanager.collector-service.address": at["collector"],
            "yarn.nodemanager.resource.memory-mb": "4096",
            "yarn.nodemanager.resource.cpu-vcores": "8",
            # Java's reserved addresses are no memory, and disks that are nearly full are none of a test's concern.
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.nodemanager.local-dirs": str(self.folder / "local"),
            "yarn.nodemanager.log-dirs": str(self.folder / "logs"),
            "yarn.nodemanager.delete.debug-delay-sec": "600",
            "yarn.scheduler.minimum-allocation-mb": "256",
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,PATH,LANG",
        }
        write_site(self.conf, "yarn", yarn)
        (self.conf / "log4j.properties").write_text(
            "log4j.rootLogger=INFO,console\n"
            "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n\n"
        )


@contextmanager
def yarn_cluster(folder: Path) -> Iterator[YarnCluster]:
    """Run both servers until the block ends."""
    cluster = YarnCluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
