"""A connector's history: its configurations, the acts on it, the records it skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from connect_core.herder.configuration import shown
from connect_core.herder.context import Herder
from connect_core.herder.overview import dead_letter_topic
from connect_core.store import audit, configs, connectors, record_errors

__all__ = [
    "ActRecord",
    "ActRecordList",
    "ConfigChange",
    "ConfigVersion",
    "ConfigVersionList",
    "SkippedLine",
    "SkippedRecords",
    "list_acts",
    "list_configs",
    "list_skipped",
]


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One setting that differs from the version before; null where it was or is absent."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ConfigVersion:
    """A stored configuration, secrets hidden, with its changes to the version before."""

    version: int
    actor: str
    created_at: datetime
    config: dict[str, str | None]
    changes: list[ConfigChange]


@dataclass(frozen=True, slots=True)
class ConfigVersionList:
    """Configurations of a connector, the newest first."""

    versions: list[ConfigVersion]


@dataclass(frozen=True, slots=True)
class ActRecord:
    """Who did what; ``before`` and ``after`` are JSON without secrets."""

    id: int
    actor: str
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    done_at: datetime


@dataclass(frozen=True, slots=True)
class ActRecordList:
    """Acts on a connector, the newest first."""

    acts: list[ActRecord]


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """Records of one task and interval skipped for one reason; ``sample``: the position of the first one."""

    sequence: int
    task: int
    stage: str
    error_kind: str
    message: str
    records: int
    sample: Mapping[str, Any]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Skipped records, the newest first; ``records``: the total of these lines."""

    lines: list[SkippedLine]
    records: int
    dead_letter_topic: str | None


def list_configs(herder: Herder, name: str, limit: int = 50) -> ConfigVersionList:
    """Return a connector's configurations, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = configs.history(connection, name, limit + 1)
    older: list[configs.ConfigVersion | None] = [*found[1:], None]
    return ConfigVersionList([_version(one, before) for one, before in zip(found, older, strict=True)][:limit])


def _version(one: configs.ConfigVersion, before: configs.ConfigVersion | None) -> ConfigVersion:
    changes = _changes({} if before is None else before.config, one.config)
    return ConfigVersion(one.version, one.actor, one.created_at, shown(one.config), changes)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[ConfigChange]:
    """Compare the stored values but return them masked: a new secret shows as a change between two hidden values."""
    old, new = shown(before), shown(after)
    return [
        ConfigChange(key, old.get(key), new.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def list_acts(herder: Herder, name: str, limit: int = 50) -> ActRecordList:
    """Return the acts on a connector, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = audit.history(connection, name, limit)
    return ActRecordList(
        [ActRecord(one.id, one.act.actor, one.act.action, one.act.before, one.act.after, one.done_at) for one in found]
    )


def list_skipped(herder: Herder, name: str, limit: int = 100) -> SkippedRecords:
    """Return the records that a connector's intervals skipped, the newest first. Raise NotFoundError."""
    with herder.database.read() as connection:
        config = connectors.get(connection, name).config
        found = record_errors.history(connection, name, limit)
    lines = [
        SkippedLine(
            sequence=one.sequence,
            task=one.task,
            stage=one.skipped.stage,
            error_kind=one.skipped.error_kind,
            message=one.skipped.message,
            records=one.skipped.records,
            sample=dict(one.skipped.sample),
            first_at=one.first_at,
            last_at=one.last_at,
        )
        for one in found
    ]
    return SkippedRecords(lines, sum(one.records for one in lines), dead_letter_topic(config))
