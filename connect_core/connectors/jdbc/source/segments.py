"""Splits the way from an offset to a bound into segments, and computes the offset of each of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.connectors.jdbc.source.config import Mode
from connect_core.connectors.jdbc.source.gaps import Gaps
from connect_core.connectors.jdbc.source.horizon import TableFile
from connect_core.connectors.jdbc.source.positions import KEY, Order, Position
from connect_core.connectors.jdbc.source.statements import Window
from connect_core.connectors.jdbc.source.stream import Stream

__all__ = ["BULK", "LATE", "LATE_XMIN", "XMIN", "Late", "Segment", "late_window", "segments"]

BULK = "bulk"
"""The number of completed readings of the whole table."""
XMIN = "xmin"
"""The horizon: rows of transactions before it have been read."""
LATE = "late"
"""The position up to which late rows have been read."""
LATE_XMIN = "late_xmin"


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of one window. Their offsets are ``base`` plus the position: in its own fields, or text in ``cursor``."""

    window: Window
    base: Mapping[str, Any]
    cursor: str | None = None

    def offset(self, order: Order, position: Position) -> dict[str, Any]:
        """Return the source offset after the row at a position."""
        if self.cursor is None:
            return {**self.base, **order.to_offset(position)}
        return {**self.base, self.cursor: order.to_text(position)}


@dataclass(frozen=True, slots=True)
class Late:
    """Where late rows are searched for: above ``floor`` in ``file``, or among ``gaps``."""

    floor: Position | None = None
    gaps: Gaps = field(default_factory=Gaps)
    file: TableFile = field(default_factory=TableFile)


def segments(stream: Stream, offset: Mapping[str, Any], bound: Mapping[str, Any], late: Late) -> list[Segment]:
    """Return the segments between an offset and a bound, late rows first."""
    if stream.mode is Mode.BULK:
        return [_bulk_segment(stream, offset, bound)]
    position, upper = stream.order.from_offset(offset), stream.order.from_offset(bound)
    xmin = bound.get(XMIN)
    base = {} if xmin is None else {XMIN: xmin}
    main = Segment(Window(position, upper, to_xmin=xmin), base)
    if position is None:
        return [main]
    if xmin is None:
        return [*_gap_segments(stream, offset, position, late), main]
    return [*_late_segments(stream, offset, xmin, late), main]


def late_window(position: Position, horizons: tuple[int, int], floor: Position | None) -> Window:
    """Return the window of late rows: those that became readable between two horizons."""
    return Window(floor, position, from_xmin=horizons[0], to_xmin=horizons[1])


def _bulk_segment(stream: Stream, offset: Mapping[str, Any], bound: Mapping[str, Any]) -> Segment:
    done = int(bound.get(BULK) or 1) - 1
    key = offset.get(KEY) if int(offset.get(BULK) or 0) == done else None
    return Segment(Window(stream.order.from_text(key) or None if key else None), {BULK: done}, KEY)


def _late_segments(stream: Stream, offset: Mapping[str, Any], xmin: int, late: Late) -> list[Segment]:
    position, before = stream.order.from_offset(offset), offset.get(XMIN)
    assert position is not None
    if before is None:
        return []
    before = max(before, late.file.copied_before)
    found: list[Segment] = []
    resting = stream.order.to_offset(position)
    begun = offset.get(LATE_XMIN)
    if begun is not None and before < begun:
        cursor = stream.order.from_text(str(offset.get(LATE) or "[]")) or late.floor
        found.append(
            Segment(late_window(position, (before, begun), cursor), {**resting, XMIN: before, LATE_XMIN: begun}, LATE)
        )
        before = begun
    if before < xmin:
        base = {**resting, XMIN: before, LATE_XMIN: xmin}
        found.append(Segment(late_window(position, (before, xmin), late.floor), base, LATE))
    return found


def _gap_segments(stream: Stream, offset: Mapping[str, Any], position: Position, late: Late) -> list[Segment]:
    ranges = late.gaps.ranges()
    if not ranges:
        return []
    return [Segment(Window(None, position, ranges=ranges), stream.order.to_offset(position), LATE)]
