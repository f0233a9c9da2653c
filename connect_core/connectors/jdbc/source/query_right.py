"""The right to send a database one's own query: a setting of the worker, as a query reads all that the login may."""

from __future__ import annotations

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.jdbc.source.config import QUERY, SourceSettings
from connect_core.errors import ConfigError

__all__ = ["check_query_right"]

_ALLOWED = "jdbc.query.allowed"


def check_query_right(settings: SourceSettings, limits: WorkerLimits) -> None:
    """Raise ConfigError for a query on a worker whose ``jdbc.query.allowed`` is not true."""
    if settings.query and limits.values.get(_ALLOWED, "").lower() != "true":
        remedy = f"list tables or views in table.include.list, or ask an administrator to set {_ALLOWED}=true"
        raise ConfigError(QUERY, settings.query, f"this worker's connectors may not send custom queries: {remedy}")
