"""Queries for lists of all connectors, beside their status: one statement each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from connect_core.api.offsets import parse
from connect_core.api.records import TopicPartition
from connect_core.interval.values import ConnectorType, IntervalState
from connect_core.store.models import Connector, Interval, Offset, OffsetHistory

__all__ = [
    "PastMove",
    "Stamps",
    "Totals",
    "all_sink_positions",
    "committed_since",
    "past_moves",
    "stamps",
    "totals",
]


@dataclass(frozen=True, slots=True)
class Stamps:
    """When a connector was created and last changed."""

    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Totals:
    """What a connector has done since it was first created, whatever of it the history still has."""

    committed_intervals: int
    committed_records: int
    abandoned_intervals: int
    skipped_records: int


@dataclass(frozen=True, slots=True)
class PastMove:
    """A move of an offset, with the offset before it, to undo it; ``sequence`` is that of its interval."""

    partition: str
    before: dict[str, Any] | None
    cause: str
    sequence: int


def all_sink_positions(
    connection: Connection, names: Collection[str] | None = None
) -> dict[str, dict[TopicPartition, int]]:
    """Return the positions of all sinks that have any, or of the named ones, by name."""
    query = (
        select(Offset.connector, Offset.partition, Offset.offset)
        .join(Connector, Connector.name == Offset.connector)
        .where(Offset.type == ConnectorType.SINK, Connector.type == ConnectorType.SINK, Connector.deleted_at.is_(None))
    )
    if names is not None:
        query = query.where(Connector.name.in_(names))
    positions: dict[str, dict[TopicPartition, int]] = {}
    for name, partition, offset in connection.execute(query):
        where = parse(partition)
        part = TopicPartition(where["kafka_topic"], where["kafka_partition"])
        positions.setdefault(name, {})[part] = parse(offset)["kafka_offset"]
    return positions


def stamps(connection: Connection, connector: str) -> Stamps:
    """Return when a connector, which must exist, was created and last changed."""
    row = connection.execute(
        select(Connector.created_at, Connector.updated_at).where(Connector.name == connector)
    ).one()
    return Stamps(row.created_at, row.updated_at)


def totals(connection: Connection) -> dict[str, Totals]:
    """Return the totals of all connectors, by name."""
    rows = connection.execute(
        select(
            Connector.name,
            Connector.committed_intervals,
            Connector.committed_records,
            Connector.abandoned_intervals,
            Connector.skipped_records,
        ).where(Connector.deleted_at.is_(None))
    )
    return {name: Totals(*counted) for name, *counted in rows}


def committed_since(connection: Connection, connector: str, sequence: int) -> list[tuple[int, int]]:
    """Return sequence and records of the committed intervals from ``sequence`` on, the newest first."""
    rows: Any = connection.execute(
        select(Interval.sequence, Interval.records)
        .where(
            Interval.connector == connector,
            Interval.sequence >= sequence,
            Interval.state == IntervalState.COMMITTED,
        )
        .order_by(Interval.sequence.desc())
    )
    return [(row.sequence, row.records) for row in rows]


def past_moves(connection: Connection, connector: str, kind: ConnectorType, limit: int) -> list[PastMove]:
    """Return the last moves of a connector's offsets, the newest first."""
    rows = connection.execute(
        select(OffsetHistory.partition, OffsetHistory.before, OffsetHistory.cause, OffsetHistory.sequence)
        .where(OffsetHistory.connector == connector, OffsetHistory.type == kind)
        .order_by(OffsetHistory.id.desc())
        .limit(limit)
    )
    return [
        PastMove(row.partition, None if row.before is None else parse(row.before), row.cause, row.sequence)
        for row in rows
    ]
