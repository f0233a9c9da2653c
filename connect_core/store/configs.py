"""The configurations a connector has had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select

from connect_core.store.clock import now
from connect_core.store.models import ConnectorConfig

__all__ = ["ConfigVersion", "add", "find", "history"]


@dataclass(frozen=True, slots=True)
class ConfigVersion:
    """One configuration as it was stored."""

    version: int
    config: Mapping[str, str]
    actor: str
    created_at: datetime


def add(connection: Connection, name: str, version: int, config: Mapping[str, str], actor: str) -> None:
    """Store another version of a configuration."""
    row = {"connector": name, "version": version, "config": dict(config), "actor": actor, "created_at": now()}
    connection.execute(insert(ConnectorConfig).values(row))


def find(connection: Connection, name: str, version: int) -> Mapping[str, str] | None:
    """Return one version of a connector's configuration, or ``None``."""
    mine = (ConnectorConfig.connector == name) & (ConnectorConfig.version == version)
    return connection.scalar(select(ConnectorConfig.config).where(mine))


def history(connection: Connection, name: str, limit: int = 100) -> list[ConfigVersion]:
    """Return the configurations of a connector's name, the newest first."""
    rows = connection.execute(
        select(ConnectorConfig.version, ConnectorConfig.config, ConnectorConfig.actor, ConnectorConfig.created_at)
        .where(ConnectorConfig.connector == name)
        .order_by(ConnectorConfig.version.desc())
        .limit(limit)
    )
    return [ConfigVersion(*row) for row in rows]
