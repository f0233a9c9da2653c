"""A Spark Connect server, on loopback and behind a token."""

from __future__ import annotations

import os
import sys
from types import MappingProxyType

from connect_core.dev.home import Home
from connect_core.dev.java import find_java
from connect_core.dev.maven import spark_home
from connect_core.dev.ports import is_open, port_of
from connect_core.dev.secrets import secret
from connect_core.dev.service import Environment, Launch, Service
from connect_core.spark.pools import FAIR_POOL

__all__ = ["SPARK"]

_PRIVATE = ("CONNECT_DATABASE_URL", "CONNECT_AIRFLOW_", "AIRFLOW_", "CONNECT_SPARK_REMOTE")
"""Prefixes of variables hidden from executors, which must not hold credentials of the database."""

_OF_CLIENTS = ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
"""With these variables set, a server would take itself for a client."""

_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
logger.connect.name = org.apache.spark.sql.connect
logger.connect.level = info
"""

_DAEMON_MODULE = "preloaded_daemon"
_WITHOUT_THREADS = MappingProxyType({"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"})
"""Environment in which numpy and pyarrow start no thread when imported.

A worker forked beside another thread can inherit a lock that nobody releases; it then hangs before its task begins, and
keeps its slot (SPARK-54456 stopped importing before the fork for this reason).
"""
_DAEMON = """\
# Spark's Python workers end after a minute without work. Forked from here, the next ones need not
# import again what takes seconds. Only what starts no thread (polars does), as a fork would lose it.
import confluent_kafka, cryptography.fernet, orjson, pandas, psycopg, pyarrow.parquet, sqlalchemy.dialects.postgresql
from pyspark import daemon
from pyspark.sql.pandas import serializers

if __name__ == "__main__":
    daemon.manager()
"""


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
        f"spark.python.daemon.module {_DAEMON_MODULE}",
    ]
    (conf / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    (conf / "log4j2.properties").write_text(_LOGGING)
    python = folder / "python"
    python.mkdir(exist_ok=True)
    (python / f"{_DAEMON_MODULE}.py").write_text(_DAEMON)
    own = {
        "JAVA_HOME": str(find_java().resolve().parents[1]),
        "SPARK_HOME": str(spark_home()),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": secret(home, "spark-token"),
        "PYSPARK_PYTHON": sys.executable,
        **_WITHOUT_THREADS,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(python), environment.get("PYTHONPATH")))),
    }
    kept = {name: value for name, value in environment.items() if not name.startswith((*_PRIVATE, *_OF_CLIENTS))}
    program = str(spark_home() / "bin" / "spark-submit")
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    return Launch((program, "--class", server, "spark-internal"), {**kept, **own})


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
