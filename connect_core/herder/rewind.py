"""Previews of what a change of offsets would read again, and rewinds to an interval.

The history of offsets contains every partition's position before any interval:
it is found by undoing the moves, the newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connect_core.api.offsets import parse
from connect_core.errors import BadRequestError, NotFoundError
from connect_core.herder import offsets
from connect_core.herder.context import Herder
from connect_core.herder.offsets import ConnectorOffset, OffsetEntry
from connect_core.interval.values import TargetState
from connect_core.store import connectors, interval_history, overviews
from connect_core.store import offsets as stored_offsets
from connect_core.store.database import Connection
from connect_core.store.offsets import Changes
from connect_core.store.overviews import PastMove

__all__ = ["OffsetChange", "OffsetsPreview", "Rewound", "preview_alter", "preview_reset", "preview_rewind", "rewind"]

_LONGEST = 10_000
"""The maximum number of moves to look back over."""
_BY_INTERVALS = ("interval", "repair")

Positions = dict[str, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class OffsetChange:
    """One partition: its offset before and after the change.

    ``again``: the number of Kafka offsets between the two that would be read again, negative if they would be skipped;
    null for sources, and if one of the two is not set, which means the beginning of the topic.
    """

    partition: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    again: int | None


@dataclass(frozen=True, slots=True)
class OffsetsPreview:
    """The effect a change of offsets would have; nothing is changed yet.

    ``intervals``: committed intervals whose data would be read again, newest first. ``records``: how many those moved,
    null if the history does not contain it. ``obstacle``: why the change would be refused now, null if it would not.
    """

    changes: list[OffsetChange]
    intervals: list[int]
    records: int | None
    obstacle: str | None

    @property
    def entries(self) -> list[ConnectorOffset]:
        """The change as a request to alter offsets."""
        return [{"partition": one.partition, "offset": one.after} for one in self.changes]


@dataclass(frozen=True, slots=True)
class Rewound:
    """The result of a rewind: a message, and what will be read again."""

    message: str
    preview: OffsetsPreview


def preview_rewind(herder: Herder, name: str, sequence: int) -> OffsetsPreview:
    """Return what a rewind to before an interval would read again.

    Raise NotFoundError if it is not in the history, BadRequestError if
    the history of offsets does not go back to it.
    """

    def before_interval(connection: Connection, moves: Sequence[PastMove], now: Positions) -> Changes:
        if interval_history.find(connection, name, sequence) is None:
            raise NotFoundError(f"Connector {name} has no interval {sequence} in its history")
        later = _since(moves, sequence)
        if not _reaches_back(moves, len(later), now):
            raise BadRequestError(
                f"The history of the offsets of connector {name} does not reach back to interval {sequence}: "
                "alter the offsets directly"
            )
        return _undone(later)

    return _preview(herder, name, before_interval)


def preview_alter(herder: Herder, name: str, entries: Sequence[OffsetEntry]) -> OffsetsPreview:
    """Return what altering offsets would cause to be read again. Raise as ``offsets.alter``."""
    with herder.database.read() as connection:
        kind = connectors.get(connection, name).type
    wanted = offsets.parse_wanted(kind, entries)
    return _preview(herder, name, lambda connection, moves, now: wanted)


def preview_reset(herder: Herder, name: str) -> OffsetsPreview:
    """Return what a reset would cause to be read again. Raise NotFoundError."""
    return _preview(herder, name, None)


def rewind(herder: Herder, name: str, sequence: int) -> Rewound:
    """Rewind a stopped connector to before an interval.

    Raise NotFoundError, BadRequestError, and the errors of ``offsets.alter``.
    """
    preview = preview_rewind(herder, name, sequence)
    if preview.obstacle is not None:
        raise BadRequestError(preview.obstacle)
    if not preview.changes:
        return Rewound(f"Nothing has changed since interval {sequence}: the offsets are the same", preview)
    return Rewound(offsets.alter(herder, name, preview.entries), preview)


def _preview(
    herder: Herder, name: str, wanted_of: Callable[[Connection, Sequence[PastMove], Positions], Changes] | None
) -> OffsetsPreview:
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        now: Positions = dict(stored_offsets.load(connection, name, state.type))
        moves = overviews.past_moves(connection, name, state.type, _LONGEST)
        wanted = dict.fromkeys(now) if wanted_of is None else wanted_of(connection, moves, now)
        changed = {key: offset for key, offset in wanted.items() if now.get(key) != offset}
        undone = _moves_back_to(changed, now, moves)
        first = min((one.sequence for one in undone or () if one.cause in _BY_INTERVALS), default=None)
        told = [] if first is None else overviews.committed_since(connection, name, first)
    is_known = undone is not None and all(one.cause in _BY_INTERVALS for one in undone)
    return OffsetsPreview(
        changes=[_change(key, now.get(key), offset) for key, offset in sorted(changed.items())],
        intervals=[sequence for sequence, _ in told],
        records=sum(records for _, records in told) if is_known else None,
        obstacle=_obstacle(name, state.target_state),
    )


def _since(moves: Sequence[PastMove], sequence: int) -> Sequence[PastMove]:
    """Return the moves since an interval's first one, that included, the newest first."""
    mine = [place for place, one in enumerate(moves) if one.cause in _BY_INTERVALS and one.sequence >= sequence]
    return moves[: mine[-1] + 1] if mine else ()


def _reaches_back(moves: Sequence[PastMove], later: int, now: Positions) -> bool:
    """Return whether the first ``later`` moves are all those since an interval.

    Intervals are kept longer than moves. Of these the oldest are missing: an older one that is there proves that none
    is; without one, each partition's history must begin with its first offset.
    """
    older = moves[later:]
    if any(one.cause in _BY_INTERVALS for one in older) or (later and older):
        return True
    first = _undone(moves)
    return all(before is None for before in first.values()) and now.keys() <= first.keys()


def _undone(moves: Sequence[PastMove]) -> Positions:
    """Return the positions of the moved partitions before these moves, which are ordered newest first."""
    return {one.partition: one.before for one in moves}


def _moves_back_to(
    wanted: Changes, now: Mapping[str, Mapping[str, Any] | None], moves: Sequence[PastMove]
) -> Sequence[PastMove] | None:
    """Return the moves to undo to reach the wanted offsets; ``None`` if they never were in force."""
    position = {key: now.get(key) for key in wanted}
    if position == wanted:
        return ()
    for count, one in enumerate(moves, 1):
        if one.partition in position:
            position[one.partition] = one.before
        if position == wanted and _is_whole(count, moves):
            return moves[:count]
    return None


def _is_whole(count: int, moves: Sequence[PastMove]) -> bool:
    """Return whether the first ``count`` moves include all those of their last interval."""
    return count == len(moves) or moves[count].sequence != moves[count - 1].sequence


def _change(key: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> OffsetChange:
    places = [None if offset is None else offset.get("kafka_offset") for offset in (before, after)]
    again = places[0] - places[1] if isinstance(places[0], int) and isinstance(places[1], int) else None
    return OffsetChange(
        parse(key), None if before is None else dict(before), None if after is None else dict(after), again
    )


def _obstacle(name: str, target: TargetState) -> str | None:
    return None if target is TargetState.STOPPED else f"Connector {name} must be stopped before its offsets are changed"
