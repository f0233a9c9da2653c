"""Upper bounds of all streams, read at most every ``poll.interval.ms``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from connect_core.api.offsets import canonical
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.source.assignment import stream_names
from connect_core.connectors.jdbc.source.bounds import BoundPlanner, now_millis
from connect_core.connectors.jdbc.source.config import Mode, SourceSettings
from connect_core.connectors.jdbc.source.description import describe_streams
from connect_core.connectors.jdbc.source.gaps import Gaps
from connect_core.connectors.jdbc.source.horizon import FloorState
from connect_core.connectors.jdbc.source.row_reader import reading
from connect_core.connectors.jdbc.source.segments import XMIN
from connect_core.connectors.jdbc.source.stream import Stream
from connect_core.errors import ConnectError, RetriableError

__all__ = ["LatestBounds"]

Offsets = Mapping[str, Mapping[str, Any]]
States = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class LatestBounds:
    """Plans the bounds of a connector; caches its last result and what need not be searched again."""

    database: JdbcDatabase
    settings: SourceSettings
    max_tasks: int
    since: int
    _answer: Offsets = field(default_factory=dict)
    _asked: tuple[float, Offsets] | None = None
    _looked: int = 0
    _quiet: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)

    def latest(self, offsets: Offsets, states: States, now: float) -> Offsets:
        """Return the bound of each stream; the cached result while it is recent and the offsets are unchanged.

        ``now`` is in seconds of a monotonic clock. Raises RetriableError or ConnectError.
        """
        if self._asked is not None and self._asked[1] == offsets and now - self._asked[0] < self.settings.poll_interval:
            return self._answer
        try:
            answer = self._plan(offsets, states)
        except RetriableError:
            raise
        except ConnectError:
            # A table may have been dropped or altered since it was listed: repeat once, from listing on.
            answer = self._plan(offsets, states)
        self._asked, self._answer = (now, dict(offsets)), answer
        return answer

    def _plan(self, offsets: Offsets, states: States) -> Offsets:
        bounds: dict[str, Mapping[str, Any]] = {}
        self._looked = now_millis()
        with reading(self.database) as connection:
            names = stream_names(connection, self.database.dialect, self.settings, self.max_tasks)
            planner = BoundPlanner(connection, self.settings, self.since)
            for stream in describe_streams(connection, self.database.dialect, self.settings, names):
                key = canonical(stream.name.partition())
                bound = self._bound(planner, stream, key, (offsets.get(key), states.get(key)))
                if bound is not None:
                    bounds[key] = bound
            _end(connection)
        return bounds

    def _bound(
        self,
        planner: BoundPlanner,
        stream: Stream,
        key: str,
        known: tuple[Mapping[str, Any] | None, Mapping[str, str] | None],
    ) -> Mapping[str, Any] | None:
        offset, state = known
        quiet = self._quiet.get(key)
        if quiet is not None and offset is not None and quiet[0] == canonical(offset):
            state = quiet[1]
        bound = planner.bound(stream, offset, state)
        horizon = planner.horizon(stream)
        if horizon is not None and offset is not None and bound == offset and XMIN in offset:
            # Nothing came late up to this horizon: this is equivalent to an interval that read nothing.
            position = stream.order.from_offset(offset)
            if position is not None:
                floor = FloorState.from_state(state)
                floor = replace(floor, file=planner.file(stream, offset, floor.file))
                advanced = floor.advanced(stream.order.to_text(position), horizon.xmin, horizon)
                self._quiet[key] = canonical(offset), advanced.to_state()
        elif stream.mode is Mode.INCREMENTING and offset is not None and bound == offset:
            # The gaps were empty. Those older than the window need no other check by this process.
            left = Gaps.from_state(state).looked_at(self._looked, self.settings.late_window)
            self._quiet[key] = canonical(offset), {**(state or {}), **left.to_state()}
        return bound


def _end(connection: Connection) -> None:
    """End the read transaction; it changed nothing."""
    connection.rollback()
