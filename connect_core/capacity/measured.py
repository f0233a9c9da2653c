"""What the parts of a deployment were measured to cost, and by which benchmark: the only numbers of the model.

``tests/capacity/test_measured.py`` works them out of the benchmarks' kept figures again. All are of one machine with
two cores; measure your own and name them with ``connect plan-capacity --measured NAME=VALUE`` or ``--figures FILE``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from connect_core.errors import ConfigError

__all__ = ["KINDS_OF_WORK", "MEASURED", "Measured", "figures_with"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured part: its value, the unit, what it is, and the benchmark that measures it."""

    value: float
    unit: str
    what: str
    source: str


_BESIDE = "tests.benchmarks.beside"
_MANY = "tests.benchmarks.many_connectors"
_SERVERS = "tests.benchmarks.servers"
_DAGS = "tests.benchmarks.dag_file"
_PER_MILLION = "CPU seconds per million records"
_PER_START = "CPU seconds per task start"
_PER_INTERVAL = "CPU seconds per interval"

KINDS_OF_WORK: Mapping[str, str] = MappingProxyType(
    {
        "parquet": "JSON, 2 transforms, Parquet",
        "parquet-eight": "JSON, 8 transforms, Parquet",
        "parquet-python": "JSON, a record transform in Python, Parquet",
        "iceberg": "JSON, 2 transforms, Iceberg table",
        "parquet-s3": "JSON, 2 transforms, Parquet on an S3 server",
        "file-to-kafka": "lines of text files, 2 transforms, Kafka JSON",
        "table-to-kafka": "rows of PostgreSQL, Kafka JSON",
        "kafka-to-table": "JSON with schema, upserts in PostgreSQL",
    }
)
"""Name → what it is; the works of ``make bench``."""
_PARTS: Mapping[str, Measured] = {
    "base.api": Measured(0.014, "cores", "Airflow's API server without connectors", _MANY),
    "base.commits": Measured(80.0, "commits a second", "of both databases without connectors", _MANY),
    "base.cores": Measured(0.16, "cores", "everything together without connectors", _MANY),
    "base.database": Measured(0.012, "cores", "PostgreSQL without connectors", _MANY),
    "base.parse": Measured(
        0.73, "CPU seconds a parse", "Airflow's DAG processor, what it stores included, without connectors", _MANY
    ),
    "base.scheduler": Measured(0.037, "cores", "Airflow's scheduler without connectors", _MANY),
    "base.triggerer": Measured(0.024, "cores", "Airflow's triggerer without connectors", _MANY),
    "base.writes": Measured(5.6, "rows a second", "written to both databases without connectors", _MANY),
    "broker.read": Measured(
        1300.0, "MB a second", "what two consumers read from one broker on the same two cores", _SERVERS
    ),
    "broker.written": Measured(
        410.0, "MB a second", "what two producers write to one broker on the same two cores", _SERVERS
    ),
    "database.commits": Measured(
        4500.0, "commits a second", "of one row each, by eight clients of PostgreSQL", _SERVERS
    ),
    "idle.api": Measured(3.2e-05, "cores per connector", "Airflow's API server, for one that waits", _MANY),
    "idle.commits": Measured(0.0021, "commits a second per connector", "of both databases, for one that waits", _MANY),
    "idle.cores": Measured(0.00066, "cores per connector", "everything together, for one that waits", _MANY),
    "idle.database": Measured(0.00021, "cores per connector", "PostgreSQL, for one that waits", _MANY),
    "idle.import": Measured(0.00089, "CPU seconds a parse per connector", "making and serializing its DAG", _DAGS),
    "idle.parse": Measured(
        0.0039, "CPU seconds a parse per connector", "Airflow's DAG processor, what it stores included", _MANY
    ),
    "idle.scheduler": Measured(8.3e-06, "cores per connector", "Airflow's scheduler, for one that waits", _MANY),
    "idle.triggerer": Measured(0.00013, "cores per connector", "Airflow's triggerer, for one that waits", _MANY),
    "idle.writes": Measured(1.0, "rows a second per connector", "written to both databases, for one that waits", _MANY),
    "interval.commits": Measured(
        38.0, "commits per interval", "of the metadata database, those that only read included", _MANY
    ),
    "interval.executors": Measured(0.18, _PER_INTERVAL, "Spark's Python workers, for an interval of one record", _MANY),
    "interval.server": Measured(0.24, _PER_INTERVAL, "Spark's JVM, for an interval of one record", _MANY),
    "interval.writes": Measured(23.0, "rows per interval", "written to the metadata database", _MANY),
    "records.file-to-kafka.executors": Measured(1.4, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.iceberg.executors": Measured(1.9, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.kafka-to-table.database": Measured(0.68, _PER_MILLION, "the connector's PostgreSQL", _BESIDE),
    "records.kafka-to-table.executors": Measured(5.1, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.parquet-eight.executors": Measured(2.0, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.parquet-python.executors": Measured(8.6, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.parquet-s3.executors": Measured(1.9, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.parquet.executors": Measured(1.8, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "records.table-to-kafka.database": Measured(0.33, _PER_MILLION, "the connector's PostgreSQL", _BESIDE),
    "records.table-to-kafka.executors": Measured(2.0, _PER_MILLION, "Spark's Python workers and JVM", _BESIDE),
    "start.api": Measured(0.053, _PER_START, "Airflow's API server", _MANY),
    "start.commits": Measured(
        23.0, "commits per task start", "of Airflow's database, those that only read included", _MANY
    ),
    "start.cores": Measured(1.4, _PER_START, "everything together, an interval of one record included", _MANY),
    "start.database": Measured(0.057, _PER_START, "PostgreSQL, an interval of one record included", _MANY),
    "start.scheduler": Measured(0.065, _PER_START, "Airflow's scheduler, without its tasks", _MANY),
    "start.seconds": Measured(1.8, "seconds", "how long a task runs that moves one record", _MANY),
    "start.task": Measured(0.76, _PER_START, "the task's own processes: imports, plan, commit", _MANY),
    "start.triggerer": Measured(0.017, _PER_START, "Airflow's triggerer", _MANY),
    "start.writes": Measured(44.0, "rows per task start", "written to Airflow's database", _MANY),
}

MEASURED: Mapping[str, Measured] = MappingProxyType(_PARTS)
"""Name → measured part."""
_DIVISORS = ("start.scheduler", "broker.read", "broker.written", "database.commits")


def figures_with(own: Mapping[str, float]) -> dict[str, float]:
    """Return the value of every part, with one's own in place of ours. Raises ConfigError for an unknown one."""
    for name, value in own.items():
        if name not in MEASURED:
            raise ConfigError("measured", name, f"there is no such part: use one of {', '.join(MEASURED)}")
        if not 0 <= value < math.inf or (value == 0 and name in _DIVISORS):
            raise ConfigError(name, value, "a measured part is a positive number, or 0 for what costs nothing")
    return {name: own.get(name, part.value) for name, part in MEASURED.items()}
