"""What all Spark processes of the embedded stack share: environment, logging, and the origin of Python workers."""

from __future__ import annotations

import sys
from types import MappingProxyType

from connect_core.dev.home import Home
from connect_core.dev.java import find_java
from connect_core.dev.maven import spark_home
from connect_core.dev.service import Environment

__all__ = ["DAEMON_MODULE", "LOGGING", "spark_environment"]

_PRIVATE = ("CONNECT_DATABASE_URL", "CONNECT_AIRFLOW_", "AIRFLOW_", "CONNECT_SPARK_REMOTE")
"""Prefixes of variables hidden from executors, which must not hold credentials of the database."""

_OF_CLIENTS = ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
"""With these variables set, a server would take itself for a client."""

LOGGING = """\
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

DAEMON_MODULE = "connect_core.spark.worker_daemon"
_WITHOUT_THREADS = MappingProxyType({"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"})
"""Environment in which numpy and pyarrow start no thread when imported.

A worker forked beside another thread can inherit a lock that nobody releases; it then hangs before its task begins, and
keeps its slot (SPARK-54456 stopped importing before the fork for this reason).
"""


def spark_environment(home: Home, environment: Environment) -> dict[str, str]:
    """Return the environment of a Spark process, without what executors must not know."""
    kept = {name: value for name, value in environment.items() if not name.startswith((*_PRIVATE, *_OF_CLIENTS))}
    return {
        **kept,
        "JAVA_HOME": str(find_java().resolve().parents[1]),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        **_WITHOUT_THREADS,
    }
