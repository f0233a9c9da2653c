"""Schedules of connectors: all that the DAG factory reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from connect_core.interval.values import ConnectorType
from connect_core.store.models import Connector

__all__ = ["ScheduledConnector", "scheduled_connectors"]

_DEFAULT_SCHEDULE = "@continuous"
_DEFAULT_RETRIES = 3
_RETRIES = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class ScheduledConnector:
    """Everything that shapes a connector's DAG; the run itself reads all other settings.

    ``outlets`` are URIs of assets; ``pool`` is an Airflow pool, or ``None``.
    """

    name: str
    type: ConnectorType
    schedule: str = _DEFAULT_SCHEDULE
    retries: int = _DEFAULT_RETRIES
    pool: str | None = None
    outlets: tuple[str, ...] = ()
    catchup_since: str | None = None
    """The time from which on missed runs are caught up, as ISO 8601; ``None``: they are not."""


def scheduled_connectors(
    connection: Connection, names: Collection[str] | None = None
) -> tuple[ScheduledConnector, ...]:
    """Return the schedules of all connectors, or of the named ones that exist, by name."""
    query = select(Connector.name, Connector.type, Connector.config, Connector.created_at).where(
        Connector.deleted_at.is_(None)
    )
    if names is not None:
        query = query.where(Connector.name.in_(names))
    rows = connection.execute(query.order_by(Connector.name))
    return tuple(_scheduled(row.name, row.type, row.config, row.created_at) for row in rows)


def _scheduled(name: str, kind: ConnectorType, config: Mapping[str, str], created: datetime) -> ScheduledConnector:
    catches_up = (config.get("schedule.catchup") or "").strip().lower() == "true"
    retries = str(config.get("schedule.retries") or _DEFAULT_RETRIES)
    return ScheduledConnector(
        name=name,
        type=kind,
        schedule=config.get("schedule") or _DEFAULT_SCHEDULE,
        retries=int(retries) if _RETRIES.fullmatch(retries) else _DEFAULT_RETRIES,
        pool=config.get("schedule.pool") or None,
        outlets=tuple(sorted({uri.strip() for uri in (config.get("schedule.outlets") or "").split(",")} - {""})),
        catchup_since=created.isoformat() if catches_up else None,
    )
