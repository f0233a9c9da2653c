"""What a verification reads from the metadata database: intervals, and positions and moves as of its beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.offsets import canonical
from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.herder.context import Herder
from connect_core.herder.offsets import MOVES
from connect_core.herder.tiling import Moves
from connect_core.interval.sink_positions import sink_wishes
from connect_core.interval.values import ConnectorState, ConnectorType
from connect_core.store import Database, audit, connectors, interval_history, offsets
from connect_core.store.audit import Act
from connect_core.store.interval_history import PastInterval
from connect_core.store.offsets import OffsetMove

__all__ = ["PastIntervals", "Snapshot", "snapshot_of"]

_PAGE = 200
_MOVES = 10_000
_MOVED = frozenset({"alter", "reset"})
_LOST = "skip lost records"
_PARTITION = frozenset({"kafka_topic", "kafka_partition"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The database's state at the beginning of a verification; ``last`` is the newest interval that has ended."""

    state: ConnectorState
    positions: Mapping[TopicPartition, int]
    last: IntervalKey
    moves: Moves


def snapshot_of(herder: Herder, name: str) -> Snapshot:
    """Read the snapshot in one transaction. Raise NotFoundError."""
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        if state.type is ConnectorType.SOURCE:
            last = IntervalKey(name, state.incarnation, state.sequence, state.epoch)
            return Snapshot(state, {}, last, Moves())
        stored = offsets.load(connection, name, state.type)
        newest = interval_history.list_intervals(connection, name, 1)
        moved = offsets.history(connection, name, _MOVES)
        acts = audit.history(connection, name, _MOVES)
    sequence = state.sequence
    if newest and not newest[0].row.state.is_final:
        sequence = newest[0].row.key.sequence - 1
    places = {place for move in moved if move.cause in _MOVED for place in _moved(move)}
    # Of moves, the audit knows even those that the history of offsets has no longer.
    places |= {place for one in acts for place in _told(one.act)}
    last = IntervalKey(name, state.incarnation, sequence, state.epoch)
    return Snapshot(state, offsets.sink_positions(stored), last, Moves(frozenset(places)))


@dataclass(slots=True)
class PastIntervals:
    """The rows of intervals from ``last`` back to the sequence ``first``, read page by page."""

    database: Database
    first: int
    last: IntervalKey
    _page: list[PastInterval] = field(default_factory=list)
    _before: int = 0
    _oldest: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self._before = self.last.sequence + 1

    def newer(self, key: IntervalKey | None) -> Iterator[PastInterval]:
        """Take and yield the rows newer than an interval; without one, all remaining rows."""
        while (head := self._head()) is not None:
            if key is not None and _place(head.row.key) <= _place(key):
                return
            yield self._page.pop(0)

    def take(self, key: IntervalKey) -> PastInterval | None:
        """Take and return the row of an interval; ``None`` if the history has none."""
        head = self._head()
        return self._page.pop(0) if head is not None and _place(head.row.key) == _place(key) else None

    def reaches(self, key: IntervalKey) -> bool:
        """Return whether the history goes back to an interval."""
        if self._oldest is None:
            with self.database.read() as connection:
                self._oldest = interval_history.oldest(connection, key.connector) or _place(self.last)
        return _place(key) >= self._oldest

    def _head(self) -> PastInterval | None:
        if not self._page and self._before > self.first:
            with self.database.read() as connection:
                found = interval_history.list_intervals(connection, self.last.connector, _PAGE, self._before)
            self._page = [one for one in found if one.row.key.sequence >= self.first]
            self._before = self._page[-1].row.key.sequence if len(self._page) == _PAGE else self.first
        return self._page[0] if self._page else None


def _place(key: IntervalKey) -> tuple[int, int]:
    return key.incarnation, key.sequence


def _moved(move: OffsetMove) -> Iterator[tuple[TopicPartition, int | None]]:
    yield from sink_wishes(_of_sinks([{"partition": move.partition, "offset": move.after}])).items()


def _told(act: Act) -> Iterator[tuple[TopicPartition, int | None]]:
    """Yield the positions that an act has set; ``None`` where it forgot one."""
    before, after = act.before or {}, act.after or {}
    if act.action == _LOST:
        yield from _lost(after)
    elif act.action in MOVES and "offsets" in before and "offsets" in after:
        former, later = _of_sinks(before["offsets"]), _of_sinks(after["offsets"])
        wanted = dict.fromkeys(former) | later
        yield from sink_wishes({part: offset for part, offset in wanted.items() if offset != former.get(part)}).items()


def _of_sinks(told: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the offsets of sinks by their partitions: before, a source may have had the connector's name."""
    return {canonical(one["partition"]): one["offset"] for one in told if set(one["partition"]) == _PARTITION}


def _lost(loss: Mapping[str, Any]) -> Iterator[tuple[TopicPartition, int | None]]:
    topic, _, partition = str(loss.get("partition", "")).rpartition("-")
    if partition.isdigit():
        yield TopicPartition(topic, int(partition)), loss.get("to")
