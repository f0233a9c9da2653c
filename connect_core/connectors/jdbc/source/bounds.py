"""The upper bound of a stream: the position that an interval will have reached at its end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.connectors.jdbc.source.config import Mode, SourceSettings
from connect_core.connectors.jdbc.source.gaps import Gaps
from connect_core.connectors.jdbc.source.horizon import (
    FloorState,
    Horizon,
    TableFile,
    is_rewritten,
    read_file_node,
    read_horizon,
    table_bytes,
)
from connect_core.connectors.jdbc.source.positions import KEY, Position
from connect_core.connectors.jdbc.source.segments import BULK, LATE, XMIN, Late, late_window
from connect_core.connectors.jdbc.source.statements import Window, select_oldest, select_positions
from connect_core.connectors.jdbc.source.stream import Stream, StreamName

__all__ = ["BoundPlanner", "now_millis"]

Offset = Mapping[str, Any]

_SEARCHED_WHOLE_BYTES = 64 * 1024 * 1024
"""Up to this size, a table with timestamps is searched completely for late rows."""

_CLOCK_SKEW_SECONDS = 60.0
"""How far the clocks of the writers of timestamps may differ."""


def now_millis() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


_CLOCKS = {
    "postgresql": "SELECT extract(epoch FROM clock_timestamp()) * 1000",
    "mysql": "SELECT unix_timestamp(now(3)) * 1000",
    "mariadb": "SELECT unix_timestamp(now(3)) * 1000",
}
"""The clock of rows' timestamps, in milliseconds since 1970; files use that of this machine."""


def _database_millis(connection: Connection) -> int:
    """Return the database's time in milliseconds since 1970, or this machine's if the database has no clock."""
    statement = _CLOCKS.get(connection.dialect.name)
    return now_millis() if statement is None else int(connection.execute(sa.text(statement)).scalar_one())


@dataclass(slots=True)
class BoundPlanner:
    """Plans bounds over one connection, whose transaction has one snapshot; caches what it has read."""

    connection: Connection
    settings: SourceSettings
    started: int
    """When the connector was started: the time that ``timestamp.initial=-1`` means."""
    _horizon: Horizon | None = None
    _now: int | None = None
    _files: dict[StreamName, TableFile] = field(default_factory=dict)

    def horizon(self, stream: Stream) -> Horizon | None:
        """Return the horizon if the stream's rows have a transaction id."""
        if not stream.has_xmin or stream.mode is Mode.BULK:
            return None
        if self._horizon is None:
            self._horizon = read_horizon(self.connection)
        return self._horizon

    def bound(self, stream: Stream, offset: Offset | None, state: Mapping[str, str] | None) -> Offset | None:
        """Return the bound of a stream: its offset if there is nothing new, ``None`` if it has no offset either."""
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
        """Return where a stream continues, or where it begins by ``timestamp.initial``."""
        position = stream.order.from_offset(offset or {})
        initial = self.settings.timestamp_initial
        if position is not None or initial is None or not stream.order.has_timestamp:
            return position
        return stream.order.at_millis(self.started if initial == -1 else initial)

    def late(self, stream: Stream, offset: Offset, state: Mapping[str, str] | None) -> Late:
        """Return where to look for late rows."""
        if self.horizon(stream) is None:
            return Late(gaps=Gaps.from_state(state) if stream.mode is Mode.INCREMENTING else Gaps())
        known = FloorState.from_state(state)
        return Late(floor=self._floor(stream, known), file=self.file(stream, offset, known.file))

    def file(self, stream: Stream, offset: Offset, known: TableFile) -> TableFile:
        """Return the file of the stream's rows; ``known`` is the one when the offset was reached."""
        if stream.name not in self._files:
            node = read_file_node(self.connection, self._quoted(stream))
            here = replace(known, node=node)
            is_other = is_rewritten(known.node, node)
            self._files[stream.name] = self._other_file(stream, offset, known, here) if is_other else here
        return self._files[stream.name]

    def _late_bound(self, stream: Stream, offset: Offset, position: Position, late: Late) -> Offset | None:
        horizon, before = self.horizon(stream), offset.get(XMIN)
        if horizon is not None:
            first = max(before or 0, late.file.copied_before)
            if before is None or first >= horizon.xmin:
                return None
            window = late_window(position, (first, horizon.xmin), late.floor)
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
        horizon = self.horizon(stream)
        # Once transaction ids have wrapped, rows of 2³² transactions ago look new: then do not search that far down.
        is_clear = horizon is not None and not horizon.has_wrapped
        if is_clear and table_bytes(self.connection, self._quoted(stream)) <= _SEARCHED_WHOLE_BYTES:
            return None
        return stream.order.earlier(floor, _CLOCK_SKEW_SECONDS)

    def _other_file(self, stream: Stream, offset: Offset, known: TableFile, here: TableFile) -> TableFile:
        """Return the file after another transaction rewrote all rows, with a new id or, like VACUUM FULL, the same."""
        position, before = stream.order.from_offset(offset), offset.get(XMIN)
        if position is None or before is None:
            return here
        if self._last(stream, Window(None, position, to_xmin=before)) is not None:
            return here
        oldest = self.connection.execute(select_oldest(stream, Window(None, position), before)).scalar()
        # A snapshot from before ALTER TABLE sees an empty table, which proves nothing.
        return known if oldest is None else replace(here, copied_before=int(oldest) + 1)

    def _newest(self, stream: Stream) -> Position | None:
        delay = self.settings.delay_of(stream.has_xmin)
        if not stream.order.has_timestamp or not delay:
            return None
        if self._now is None:
            self._now = _database_millis(self.connection)
        return stream.order.at_millis(self._now - int(delay * 1000))

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
