"""The services of the embedded stack, in the order they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from connect_core.dev.airflow import AIRFLOW
from connect_core.dev.celery import CELERY
from connect_core.dev.kafka import KAFKA
from connect_core.dev.postgres import POSTGRES
from connect_core.dev.registry import REGISTRY
from connect_core.dev.rest import REST
from connect_core.dev.service import Service
from connect_core.dev.spark import SPARK
from connect_core.dev.spark_cluster import SPARK_CLUSTER
from connect_core.errors import ConnectError

__all__ = ["AIRFLOW_NAMES", "CELERY_NAMES", "SERVICES", "SPARK_CLUSTER_NAMES", "STANDARD", "find_service", "in_order"]

_STANDARD = (POSTGRES, KAFKA, SPARK, *AIRFLOW, REST)
_ALL = (POSTGRES, KAFKA, *SPARK_CLUSTER, SPARK, *AIRFLOW, REST, REGISTRY, *CELERY)
SERVICES = {service.name: service for service in _ALL}
STANDARD = tuple(service.name for service in _STANDARD)
"""The services that are started by default."""

AIRFLOW_NAMES = tuple(service.name for service in AIRFLOW)
CELERY_NAMES = tuple(service.name for service in CELERY)
SPARK_CLUSTER_NAMES = tuple(service.name for service in SPARK_CLUSTER)


def find_service(name: str) -> Service:
    """Return a service by name, else raise ConnectError with the names."""
    try:
        return SERVICES[name]
    except KeyError:
        raise ConnectError(f"There is no service {name!r}: use one of {', '.join(SERVICES)}.") from None


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named services and what they need, each once."""
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += find_service(name).needs
    return tuple(name for name in SERVICES if name in wanted)
