"""A Spark standalone cluster for the embedded stack: a master and two workers, on loopback and behind a secret."""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from connect_core.dev.home import Home
from connect_core.dev.maven import spark_home
from connect_core.dev.ports import port_of
from connect_core.dev.secrets import secret, write_private
from connect_core.dev.service import Environment, Launch, Service
from connect_core.dev.spark_processes import LOGGING, spark_environment

__all__ = ["SPARK_CLUSTER", "SPARK_WORKERS", "cluster_lines"]

_CORES = 8
"""Of each worker. A task that waits for data holds one, and needs little of a processor."""
_WORKER_MEMORY, _EXECUTOR_MEMORY = "3g", "1g"
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def cluster_lines(home: Home) -> list[str]:
    """Return the settings of applications that run on the cluster; one of them is its secret."""
    return [
        f"spark.master spark://127.0.0.1:{port_of(home, 'spark-master')}",
        f"spark.executor.memory {_EXECUTOR_MEMORY}",
        f"spark.executor.extraJavaOptions {_JVM}",
        "spark.driver.host 127.0.0.1",
        "spark.driver.bindAddress 127.0.0.1",
        *_shared_lines(home),
    ]


def _shared_lines(home: Home) -> list[str]:
    # Without a secret every user of this machine could run programs on the cluster as its owner.
    return [
        "spark.authenticate true",
        f"spark.authenticate.secret {secret(home, 'spark-cluster')}",
        "spark.network.crypto.enabled true",
    ]


def _launch(home: Home, environment: Environment, name: str, arguments: tuple[str, ...]) -> Launch:
    folder = home.folder(name)
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    lines = [*_shared_lines(home), "spark.master.rest.enabled false", "spark.ui.killEnabled false"]
    write_private(conf / "spark-defaults.conf", "\n".join(lines) + "\n")
    (conf / "log4j2.properties").write_text(LOGGING)
    own = {
        **spark_environment(home, environment),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _JVM,
    }
    return Launch((str(spark_home() / "bin" / "spark-class"), *arguments), own)


def _launch_master(home: Home, environment: Environment) -> Launch:
    ports = (
        "--port",
        str(port_of(home, "spark-master")),
        "--webui-port",
        str(port_of(home, "spark-master", "ui_port")),
    )
    arguments = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", *ports)
    return _launch(home, environment, "spark-master", arguments)


def _launch_worker(name: str, home: Home, environment: Environment) -> Launch:
    place = (
        "--host",
        "127.0.0.1",
        "--webui-port",
        str(port_of(home, name)),
        "--work-dir",
        str(home.folder(name) / "work"),
    )
    size = ("--cores", str(_CORES), "--memory", _WORKER_MEMORY)
    address = f"spark://127.0.0.1:{port_of(home, 'spark-master')}"
    arguments = ("org.apache.spark.deploy.worker.Worker", *place, *size, address)
    return _launch(home, environment, name, arguments)


def _state(home: Home) -> dict[str, Any] | None:
    """Return what the master tells of its cluster, ``None`` while it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(home, "spark-master", "ui_port"), timeout=2.0)
    with suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/json/")
        return dict(json.loads(connection.getresponse().read()))
    return None


def _is_registered(name: str, home: Home) -> bool:
    workers = (_state(home) or {}).get("workers", ())
    own = f":{port_of(home, name)}"
    return any(one["state"] == "ALIVE" and str(one["webuiaddress"]).endswith(own) for one in workers)


def _worker(name: str, port: int) -> Service:
    return Service(
        name=name,
        launch=lambda home, environment: _launch_worker(name, home, environment),
        is_healthy=lambda home, environment: _is_registered(name, home),
        ports=MappingProxyType({"port": port}),
        needs=("spark-master",),
    )


SPARK_MASTER = Service(
    name="spark-master",
    launch=_launch_master,
    is_healthy=lambda home, environment: _state(home) is not None,
    ports=MappingProxyType({"port": 7077, "ui_port": 8090}),
)
SPARK_WORKERS = tuple(_worker(f"spark-worker-{number}", 8090 + number) for number in (1, 2))
SPARK_CLUSTER = (SPARK_MASTER, *SPARK_WORKERS)
