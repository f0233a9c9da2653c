"""Offsets in SQL: a projection that follows the markers in the targets."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from connect_core.api.offsets import canonical, parse
from connect_core.interval.sink_positions import sink_offsets, sink_positions
from connect_core.interval.values import ConnectorType
from connect_core.store.clock import now
from connect_core.store.models import Offset, OffsetHistory

__all__ = [
    "Changes",
    "Move",
    "OffsetMove",
    "forget_history",
    "history",
    "keep_states",
    "load",
    "load_all",
    "load_states",
    "move",
    "sink_offsets",
    "sink_positions",
]

Changes = Mapping[str, Mapping[str, Any] | None]
"""Wanted offsets by the canonical JSON of their partition; ``None`` forgets one."""


@dataclass(frozen=True, slots=True)
class Move:
    """The cause and the actor of a move of offsets. ``cause``: interval, repair, alter, reset.

    ``marker``: the position of the proof in the offsets topic, or ``None``.
    """

    connector: str
    type: ConnectorType
    cause: str
    epoch: int
    sequence: int = 0
    actor: str | None = None
    marker: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class OffsetMove:
    """One move of one offset. ``cause``: interval, repair, alter or reset."""

    id: int
    partition: Mapping[str, Any]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    cause: str
    actor: str | None
    sequence: int
    epoch: int
    moved_at: datetime


def load(connection: Connection, connector: str, kind: ConnectorType) -> dict[str, dict[str, Any]]:
    """Return the offsets of a connector by canonical JSON of their partition."""
    rows = connection.execute(
        select(Offset.partition, Offset.offset).where(Offset.connector == connector, Offset.type == kind)
    )
    return {partition: parse(offset) for partition, offset in rows}


def load_all(
    connection: Connection, connectors: Collection[str], kind: ConnectorType
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the offsets of those connectors that have any, in the form of ``load``, by one statement."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    rows = connection.execute(
        select(Offset.connector, Offset.partition, Offset.offset).where(
            Offset.connector.in_(connectors), Offset.type == kind
        )
    )
    for connector, partition, offset in rows:
        found.setdefault(connector, {})[partition] = parse(offset)
    return found


def load_states(connection: Connection, connector: str) -> dict[str, dict[str, str]]:
    """Return the private state stored with source offsets, by canonical JSON of their partition."""
    rows = connection.execute(
        select(Offset.partition, Offset.state).where(
            Offset.connector == connector, Offset.type == ConnectorType.SOURCE, Offset.state.is_not(None)
        )
    )
    return {partition: dict(state) for partition, state in rows}


def keep_states(connection: Connection, connector: str, states: Mapping[str, Mapping[str, str] | None]) -> None:
    """Store private state with existing offsets; ``None`` deletes it. The caller has locked the connector's row."""
    mine = (Offset.connector == connector) & (Offset.type == ConnectorType.SOURCE)
    for partition, state in states.items():
        one = update(Offset).where(mine, Offset.digest == _digest(partition))
        connection.execute(one.values(state=None if state is None else dict(state)))


def move(connection: Connection, reason: Move, wanted: Changes) -> int:
    """Move offsets, write history for those that change and return how many did.

    The caller has locked the connector's row, so no other move comes in between.
    """
    texts = {key: None if offset is None else canonical(offset) for key, offset in wanted.items()}
    stored = _stored(connection, reason, texts)
    changed = {key: text for key, text in texts.items() if stored.get(key) != text}
    if not changed:
        return 0
    _write(connection, reason, stored, changed)
    lines = [
        {
            "connector": reason.connector,
            "type": reason.type,
            "partition": key,
            "before": stored.get(key),
            "after": text,
            "cause": reason.cause,
            "actor": reason.actor,
            "sequence": reason.sequence,
            "epoch": reason.epoch,
        }
        for key, text in changed.items()
    ]
    connection.execute(insert(OffsetHistory).values(moved_at=now()), lines)
    return len(changed)


def _stored(connection: Connection, reason: Move, texts: Mapping[str, str | None]) -> dict[str, str]:
    query = select(Offset.partition, Offset.offset).where(
        Offset.connector == reason.connector, Offset.type == reason.type
    )
    if len(texts) <= 100:
        query = query.where(Offset.digest.in_([_digest(key) for key in texts]))
    return {row.partition: row.offset for row in connection.execute(query)}


def _write(connection: Connection, reason: Move, stored: Mapping[str, str], changed: Mapping[str, str | None]) -> None:
    place: dict[str, Any] = {
        "marker": reason.marker,
        "sequence": reason.sequence,
        "epoch": reason.epoch,
        "updated_at": now(),
    }
    if reason.cause in ("alter", "reset"):
        # The source's private state belongs to the previous offset.
        place["state"] = None
    owner = {"connector": reason.connector, "type": reason.type}
    fresh = [
        {"digest": _digest(key), "partition": key, "offset": text}
        for key, text in changed.items()
        if text is not None and key not in stored
    ]
    moved = [{"key": _digest(key), "text": text} for key, text in changed.items() if text is not None and key in stored]
    gone = [_digest(key) for key, text in changed.items() if text is None]
    mine = (Offset.connector == reason.connector) & (Offset.type == reason.type)
    if fresh:
        connection.execute(insert(Offset).values(**owner, **place), fresh)
    if moved:
        one = update(Offset).where(mine, Offset.digest == bindparam("key"))
        connection.execute(one.values(offset=bindparam("text"), **place), moved)
    if gone:
        connection.execute(delete(Offset).where(mine, Offset.digest.in_(gone)))


def _digest(partition: str) -> str:
    return hashlib.sha256(partition.encode("utf-8", "surrogatepass")).hexdigest()


def history(connection: Connection, connector: str, limit: int = 100, before: int | None = None) -> list[OffsetMove]:
    """Return moves of a connector's offsets, the newest first; ``before`` is the last id of the previous page."""
    query = select(OffsetHistory.__table__).where(OffsetHistory.connector == connector)
    if before is not None:
        query = query.where(OffsetHistory.id < before)
    return [
        OffsetMove(
            id=row.id,
            partition=parse(row.partition),
            before=None if row.before is None else parse(row.before),
            after=None if row.after is None else parse(row.after),
            cause=row.cause,
            actor=row.actor,
            sequence=row.sequence,
            epoch=row.epoch,
            moved_at=row.moved_at,
        )
        for row in connection.execute(query.order_by(OffsetHistory.id.desc()).limit(limit))
    ]


def forget_history(connection: Connection, older_than: datetime, most: int | None = None) -> int:
    """Delete history from before a time, or beyond the last ``most`` rows of a connector → how many."""
    gone = connection.execute(delete(OffsetHistory).where(OffsetHistory.moved_at < older_than)).rowcount
    if most is None:
        return gone
    counted = select(OffsetHistory.connector).group_by(OffsetHistory.connector).having(func.count() > most)
    for name in connection.scalars(counted).all():
        mine = OffsetHistory.connector == name
        last = select(OffsetHistory.id).where(mine).order_by(OffsetHistory.id.desc()).offset(most).limit(1)
        gone += connection.execute(
            delete(OffsetHistory).where(mine, OffsetHistory.id <= connection.scalar(last))
        ).rowcount
    return gone
