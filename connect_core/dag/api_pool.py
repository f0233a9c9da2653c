"""Whether the pool of database connections of Airflow's API server exceeds its threads."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from connect_core.dag.airflow_api import AirflowApi
from connect_core.errors import ConnectError

__all__ = ["API_THREADS", "POOL_REMEDY", "ApiPool", "find_pool"]

API_THREADS = 40
"""Requests an API server worker serves at once: anyio's limit, which Airflow 3.3 does not change."""

POOL_REMEDY = (
    "Set AIRFLOW__DATABASE__SQL_ALCHEMY_POOL_SIZE=10 and AIRFLOW__DATABASE__SQL_ALCHEMY_MAX_OVERFLOW=50 "
    "for Airflow's API server, and allow as many connections in its database."
)

_SECTION, _SIZE, _OVERFLOW = "database", "sql_alchemy_pool_size", "sql_alchemy_max_overflow"


@dataclass(frozen=True, slots=True)
class ApiPool:
    """A pool of ``size`` connections (0: no limit) and ``overflow`` more (-1: no limit); ``source``: where read."""

    size: int
    overflow: int
    source: str

    @property
    def is_enough(self) -> bool:
        """Whether every thread has a connection, and the event loop, which authenticates callers, one more."""
        return self.size == 0 or self.overflow < 0 or self.size + self.overflow > API_THREADS

    def __str__(self) -> str:
        """Return the numbers that are compared, as text."""
        held = "no limit" if self.size == 0 or self.overflow < 0 else f"{self.size} + {self.overflow}"
        return f"{held} database connections for {API_THREADS} threads of the API server ({self.source})"


def find_pool(api: AirflowApi, url: str) -> ApiPool | None:
    """Return the pool as reported by Airflow's API, else as Airflow is configured on this machine.

    The latter only where the address is this machine's. ``None`` where neither is available:
    ``[api] expose_config`` is off by default.
    """
    try:
        told = api.option(_SECTION, _SIZE), api.option(_SECTION, _OVERFLOW)
    except ConnectError:
        return _pool_here() if _is_here(url) else None
    return ApiPool(int(told[0]), int(told[1]), "from its API")


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _pool_here() -> ApiPool:
    from airflow.configuration import conf

    if not conf.getboolean(_SECTION, "sql_alchemy_pool_enabled", fallback=True):
        return ApiPool(0, -1, "Airflow's configuration on this machine")
    size, overflow = conf.getint(_SECTION, _SIZE, fallback=5), conf.getint(_SECTION, _OVERFLOW, fallback=10)
    return ApiPool(size, overflow, "Airflow's configuration on this machine")
