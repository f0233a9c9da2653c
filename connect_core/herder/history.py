"""What became of a connector: its configurations, the acts on it, the records it skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from connect_core.herder.configuration import shown
from connect_core.herder.context import Herder
from connect_core.herder.overview import dead_letter_topic
from connect_core.store import audit, configs, connectors, record_errors
from connect_core.store.configs import ConfigVersion

__all__ = ["ConfigChange", "PastConfig", "list_acts", "list_configs", "list_skipped"]


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One setting that differs; ``None`` where it was or is absent."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class PastConfig:
    """A configuration as it was stored, secrets hidden, and what it changed."""

    version: int
    actor: str
    created_at: datetime
    config: dict[str, str | None]
    changes: list[ConfigChange]


def list_configs(herder: Herder, name: str, limit: int = 50) -> list[PastConfig]:
    """Return a connector's configurations, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = configs.history(connection, name, limit + 1)
    older: list[ConfigVersion | None] = [*found[1:], None]
    return [_past(one, before) for one, before in zip(found, older, strict=True)][:limit]


def _past(one: ConfigVersion, before: ConfigVersion | None) -> PastConfig:
    changes = _changes({} if before is None else before.config, one.config)
    return PastConfig(one.version, one.actor, one.created_at, shown(one.config), changes)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[ConfigChange]:
    """Compare what is stored, show what may be seen: a new secret is a change between two hidden values."""
    old, new = shown(before), shown(after)
    return [
        ConfigChange(key, old.get(key), new.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def list_acts(herder: Herder, name: str, limit: int = 50) -> list[dict[str, Any]]:
    """Return what was done to a connector, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = audit.history(connection, name, limit)
    return [
        {
            "id": one.id,
            "actor": one.act.actor,
            "action": one.act.action,
            "before": one.act.before,
            "after": one.act.after,
            "done_at": one.done_at,
        }
        for one in found
    ]


def list_skipped(herder: Herder, name: str, limit: int = 100) -> dict[str, Any]:
    """Return what a connector's intervals skipped, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        config = connectors.get(connection, name).config
        found = record_errors.history(connection, name, limit)
    lines = [
        {
            "sequence": one.sequence,
            "task": one.task,
            "stage": one.skipped.stage,
            "error_kind": one.skipped.error_kind,
            "message": one.skipped.message,
            "records": one.skipped.records,
            "sample": dict(one.skipped.sample),
            "first_at": one.first_at,
            "last_at": one.last_at,
        }
        for one in found
    ]
    records = sum(one.skipped.records for one in found)
    return {"lines": lines, "records": records, "dead_letter_topic": dead_letter_topic(config)}
