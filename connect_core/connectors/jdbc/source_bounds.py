"""The upper bound of a stream: what an interval will have read when it ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.connectors.jdbc.source_config import Mode, SourceSettings
from connect_core.connectors.jdbc.source_gaps import Gaps
from connect_core.connectors.jdbc.source_horizon import (
    FloorState,
    Horizon,
    read_file_node,
    read_horizon,
    table_bytes,
)
from connect_core.connectors.jdbc.source_positions import KEY, Position
from connect_core.connectors.jdbc.source_segments import BULK, LATE, XMIN, Late, late_window
from connect_core.connectors.jdbc.source_stream import Stream
from connect_core.connectors.jdbc.table_query import Window, select_positions

__all__ = ["BoundPlanner", "now_millis"]

Offset = Mapping[str, Any]

_SEARCHED_WHOLE_BYTES = 64 * 1024 * 1024
"""Up to this size a table with timestamps is looked through whole for rows that came late."""

_CLOCK_SKEW_SECONDS = 60.0
"""How far the clocks of those who write timestamps may differ."""


def now_millis() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class BoundPlanner:
    """Plans bounds over one connection, whose transaction sees one moment; asks nothing twice."""

    connection: Connection
    settings: SourceSettings
    started: int
    """When the connector was started: ``timestamp.initial=-1`` means that time."""
    _horizon: Horizon | None = None

    def horizon(self, stream: Stream) -> Horizon | None:
        """Return the horizon where the stream's rows know their transaction."""
        if not stream.has_xmin or stream.mode is Mode.BULK:
            return None
        if self._horizon is None:
            self._horizon = read_horizon(self.connection)
        return self._horizon

    def bound(self, stream: Stream, offset: Offset | None, state: Mapping[str, str] | None) -> Offset | None:
        """Return the bound of a stream: its offset when there is nothing new, ``None`` if it has none either."""
        if stream.mode is Mode.BULK:
            return self._bulk_bound(stream, offset, state)
        position = self.start(stream, offset)
        horizon = self.horizon(stream)
        base = {} if horizon is None else {XMIN: horizon.xmin}
        last = self._last(stream, Window(position, self._newest(stream), to_xmin=base.get(XMIN)))
        if last is not None:
            return {**base, **stream.order.to_offset(last)}
        if position is None or offset is None:
            return offset
        found = self._late_bound(stream, offset, position, self.late(stream, offset, state))
        return offset if found is None else found

    def start(self, stream: Stream, offset: Offset | None) -> Position | None:
        """Return where a stream goes on, or ``timestamp.initial`` says it begins."""
        position = stream.order.from_offset(offset or {})
        initial = self.settings.timestamp_initial
        if position is not None or initial is None or not stream.order.has_timestamp:
            return position
        return stream.order.at_millis(self.started if initial == -1 else initial)

    def late(self, stream: Stream, offset: Offset, state: Mapping[str, str] | None) -> Late:
        """Return where rows that came late are to be looked for."""
        position = stream.order.from_offset(offset)
        if position is None:
            return Late()
        if self.horizon(stream) is None:
            is_counted = stream.mode is Mode.INCREMENTING
            gaps = Gaps.from_state(state).without(now_millis(), self.settings.late_window)
            return Late(gaps=gaps if is_counted else Gaps())
        known = FloorState.from_state(state)
        if known.file_node and known.file_node != self.file_node(stream) and self._was_rewritten(stream, offset):
            return Late(is_blind=True)
        return Late(floor=self._floor(stream, known))

    def file_node(self, stream: Stream) -> str:
        """Return the file the stream's rows are in, empty where there is no horizon."""
        return "" if self.horizon(stream) is None else read_file_node(self.connection, self._quoted(stream))

    def _late_bound(self, stream: Stream, offset: Offset, position: Position, late: Late) -> Offset | None:
        horizon, before = self.horizon(stream), offset.get(XMIN)
        if horizon is not None:
            if before is None or before >= horizon.xmin or late.is_blind:
                return None
            window = late_window(position, (before, horizon.xmin), late.floor)
            is_found = self._last(stream, window) is not None
            return {**stream.order.to_offset(position), XMIN: horizon.xmin} if is_found else None
        if not late.gaps.gaps:
            return None
        last = self._last(stream, Window(None, position, ranges=late.gaps.ranges()))
        return None if last is None else {**stream.order.to_offset(position), LATE: stream.order.to_text(last)}

    def _floor(self, stream: Stream, known: FloorState) -> Position | None:
        floor = stream.order.from_text(known.floor) if known.floor else None
        if floor is None or not stream.order.has_timestamp:
            return floor
        if table_bytes(self.connection, self._quoted(stream)) <= _SEARCHED_WHOLE_BYTES:
            return None
        return stream.order.earlier(floor, _CLOCK_SKEW_SECONDS)

    def _was_rewritten(self, stream: Stream, offset: Offset) -> bool:
        """Return whether no row is left as it was read: ALTER TABLE gave all of them a new transaction."""
        position, before = stream.order.from_offset(offset), offset.get(XMIN)
        if position is None or before is None:
            return False
        return self._last(stream, Window(None, position, to_xmin=before)) is None

    def _newest(self, stream: Stream) -> Position | None:
        if not stream.order.has_timestamp or not self.settings.delay:
            return None
        return stream.order.at_millis(now_millis() - int(self.settings.delay * 1000))

    def _last(self, stream: Stream, window: Window) -> Position | None:
        row = self.connection.execute(select_positions(stream, window)).first()
        return None if row is None else tuple(row)

    def _bulk_bound(self, stream: Stream, offset: Offset | None, state: Mapping[str, str] | None) -> Offset | None:
        known: Offset = offset or {}
        done, key = int(known.get(BULK) or 0), known.get(KEY)
        if key is not None and self._has_rows(stream, Window(stream.order.from_text(key) or None)):
            return {BULK: done + 1}
        begun = int((state or {}).get("begun") or 0)
        is_due = offset is None or now_millis() - begun >= self.settings.poll_interval * 1000
        if not is_due or not self._has_rows(stream, Window()):
            return offset
        return {BULK: done + (1 if key is None else 2)}

    def _has_rows(self, stream: Stream, window: Window) -> bool:
        return self.connection.execute(select_positions(stream, window, is_last=False)).first() is not None

    def _quoted(self, stream: Stream) -> str:
        assert stream.name.table is not None
        name = sa.table(stream.name.table.name, schema=stream.name.table.schema)
        return self.connection.dialect.identifier_preparer.format_table(name)
