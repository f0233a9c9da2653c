"""A Spark Connect server, on loopback and behind a token."""

from __future__ import annotations

from types import MappingProxyType

from connect_core.dev.home import Home
from connect_core.dev.maven import spark_home
from connect_core.dev.ports import is_open, port_of
from connect_core.dev.secrets import secret, write_private
from connect_core.dev.service import Environment, Launch, Service
from connect_core.dev.spark_cluster import cluster_lines
from connect_core.dev.spark_processes import DAEMON_MODULE, LOGGING, spark_environment
from connect_core.spark.pools import FAIR_POOL

__all__ = ["ON_CLUSTER", "SPARK"]

ON_CLUSTER = "CONNECT_SPARK_CLUSTER"
"""The variable that has the server use the standalone cluster instead of its own process: ``true``."""


def _launch(home: Home, environment: Environment) -> Launch:
    folder = home.folder("spark")
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    given = home.setting("spark-defaults.conf")
    # The last value counts: one of the project's own replaces this file.
    lines = [f"spark.scheduler.allocation.file {FAIR_POOL}", given.read_text() if given else ""]
    lines += [
        "spark.connect.grpc.binding.address 127.0.0.1",
        f"spark.connect.grpc.binding.port {port_of(home, 'spark')}",
        f"spark.ui.port {port_of(home, 'spark', 'ui_port')}",
        f"spark.local.dir {folder / 'scratch'}",
        f"spark.sql.warehouse.dir {folder / 'warehouse'}",
        f"spark.python.daemon.module {DAEMON_MODULE}",
    ]
    if environment.get(ON_CLUSTER) == "true":
        lines += cluster_lines(home)
    write_private(conf / "spark-defaults.conf", "\n".join(lines) + "\n")
    (conf / "log4j2.properties").write_text(LOGGING)
    own = {
        **spark_environment(home, environment),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": secret(home, "spark-token"),
    }
    program = str(spark_home() / "bin" / "spark-submit")
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    return Launch((program, "--class", server, "spark-internal"), own)


def _exports(home: Home) -> Environment:
    # Spark's client sends a token without TLS to the host name "localhost" only.
    port, token = port_of(home, "spark"), secret(home, "spark-token")
    return {
        "CONNECT_SPARK_REMOTE": f"sc://localhost:{port}/;token={token}",
        "CONNECT_SPARK_UI": f"http://127.0.0.1:{port_of(home, 'spark', 'ui_port')}",
    }


def _is_healthy(home: Home, environment: Environment) -> bool:
    return is_open(port_of(home, "spark"))


SPARK = Service(
    name="spark",
    launch=_launch,
    is_healthy=_is_healthy,
    exports=_exports,
    ports=MappingProxyType({"port": 15002, "ui_port": 4040}),
)
