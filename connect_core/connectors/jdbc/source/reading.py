"""Reads one stream from an offset to a bound, in pieces."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.offsets import canonical
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.source.arrow_reader import ArrowReader
from connect_core.connectors.jdbc.source.arrow_values import plain
from connect_core.connectors.jdbc.source.bounds import BoundPlanner, now_millis
from connect_core.connectors.jdbc.source.config import Mode, SourceSettings
from connect_core.connectors.jdbc.source.description import describe_streams
from connect_core.connectors.jdbc.source.gaps import Gaps
from connect_core.connectors.jdbc.source.horizon import FloorState, read_horizon
from connect_core.connectors.jdbc.source.positions import INCREMENTING, KEY
from connect_core.connectors.jdbc.source.row_reader import RowReader
from connect_core.connectors.jdbc.source.row_records import RowConverter, row_converter, schema_version
from connect_core.connectors.jdbc.source.segments import LATE, XMIN, Late, Segment, segments
from connect_core.connectors.jdbc.source.statements import select_rows
from connect_core.connectors.jdbc.source.stream import Stream, StreamName

__all__ = ["Piece", "StreamReading"]

_LOG = logging.getLogger(__name__)
_MOST_CELLS, _MOST_ROWS, _LEAST_ROWS = 4_000_000, 20_000, 1000


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a segment, as tuples or an Arrow table; ``bound``: offset of the reading's last row, if included."""

    segment: Segment
    chunk: Any
    bound: Mapping[str, Any] | None = None

    def unfinished(self) -> Piece:
        """Return the piece without the bound, as further ones follow."""
        return replace(self, bound=None)


class StreamReading:
    """One reading of one stream; holds connections from the first piece until ``close``."""

    converter: RowConverter

    def __init__(
        self,
        database: JdbcDatabase,
        settings: SourceSettings,
        name: StreamName,
        state: Mapping[str, str],
        since: int,
    ) -> None:
        self._database, self._settings, self._name, self._since = database, settings, name, since
        self._state = dict(state)
        self._readers: list[RowReader | ArrowReader] = []
        self._gaps: Gaps | None = None
        self._has_warned = False
        self._looked = 0
        self.key = canonical(name.partition())

    def pieces(
        self, offset: Mapping[str, Any] | None, bound: Mapping[str, Any] | None, is_columnar: bool
    ) -> Iterator[Piece]:
        """Yield the rows between an offset and a bound; without a bound, up to now."""
        self._looked = now_millis()
        rows = RowReader(self._database)
        self._readers.append(rows)
        with self._database.failures():
            stream = next(
                iter(describe_streams(rows.connection, self._database.dialect, self._settings, [self._name])), None
            )
            if stream is None:
                return
            planner = BoundPlanner(rows.connection, self._settings, self._since)
            bound = planner.bound(stream, offset, self._state) if bound is None else bound
            if bound is None or bound == offset:
                return
            start = self._start(planner, stream, offset)
            late = planner.late(stream, start, self._state)
        self._begin(stream, late, start)
        plan = segments(stream, start, bound, late)
        size = _chunk_rows(stream) if is_columnar else self._settings.batch_rows
        yield from _with_end(self._chunks(stream, plan, is_columnar, size), bound)

    def state_after(self, piece: Piece, is_seen: bool = False) -> dict[str, str]:
        """Return the state to store with the offset after a piece; ``is_seen``: a part of it was returned before."""
        if self._gaps is not None:
            self._gaps = self._gaps if is_seen else self._watched(self._gaps, piece)
            return self._state | self._gaps.to_state()
        if piece.bound is not None and XMIN in piece.bound:
            self._state |= self._advanced(piece.bound)
        return dict(self._state)

    def exists(self) -> bool:
        """Return whether the stream's table still exists."""
        if self._name.table is None:
            return True
        with self._database.connect() as connection:
            return bool(self._database.dialect.table(connection, self._name.table))

    def cancel(self) -> None:
        """Cancel the running statement in the database; called from another thread."""
        for reader in self._readers:
            reader.cancel()

    def close(self) -> None:
        """Close the connections."""
        for reader in self._readers:
            reader.close()

    def _start(self, planner: BoundPlanner, stream: Stream, offset: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if offset:
            return offset
        position = None if stream.mode is Mode.BULK else planner.start(stream, offset)
        return {} if position is None else stream.order.to_offset(position)

    def _begin(self, stream: Stream, late: Late, start: Mapping[str, Any]) -> None:
        version, fingerprint = schema_version(stream, self._state)
        self._state |= {"version": str(version), "schema": fingerprint}
        self.converter = row_converter(stream, version)
        if late.file.node:
            # Stored with every offset, also of an interval that ends early: the rows may be rewritten at any time.
            self._state |= replace(FloorState.from_state(self._state), file=late.file).to_state()
        if stream.mode is Mode.BULK and KEY not in start:
            self._state["begun"] = str(now_millis())
        elif stream.mode is Mode.INCREMENTING and not stream.has_xmin:
            self._gaps = late.gaps
            self._last_number = start.get(INCREMENTING)

    def _chunks(self, stream: Stream, plan: Sequence[Segment], is_columnar: bool, size: int) -> Iterator[Piece]:
        reader: Any = self._readers[0]
        if is_columnar:
            reader = ArrowReader(self._database)
            self._readers.append(reader)
        for segment in plan:
            chunks = reader.chunks(select_rows(stream, segment.window), size)
            if stream.order.may_tie:
                places = self.converter.order_places[0]
                chunks = _untied_tables(chunks, places) if is_columnar else _untied_rows(chunks, self.converter)
            for chunk in chunks:
                yield Piece(segment, chunk)

    def _watched(self, gaps: Gaps, piece: Piece) -> Gaps:
        place = self.converter.order_places[-1][0]
        is_table = isinstance(piece.chunk, pa.Table)
        numbers = plain(piece.chunk.column(place)).to_pylist() if is_table else [row[place] for row in piece.chunk]
        numbers = [int(number) for number in numbers]
        window = self._settings.late_window
        if piece.segment.cursor == LATE:
            left = gaps.filled(numbers)
            return left if piece.bound is None else left.looked_at(self._looked, window)
        # Late rows are read first: by now all gaps have been checked.
        found = gaps.looked_at(self._looked, window).after(self._last_number, numbers, now_millis())
        self._last_number = numbers[-1]
        kept, abandoned = found.newest()
        if abandoned and not self._has_warned:
            self._has_warned = True
            _LOG.warning(
                "%s: there are more gaps in the numbers than can be tracked. Rows that commit late between %d and %d,"
                " and in further ranges skipped by this read, will not be found: if deletions leave such gaps "
                "and rows can commit late, use a timestamp as well",
                self._name,
                abandoned[0].low,
                abandoned[-1].high,
            )
        return kept

    def _advanced(self, bound: Mapping[str, Any]) -> dict[str, str]:
        """Return the state that determines how far down late rows are searched for next."""
        stream = self.converter.stream
        position = stream.order.from_offset(bound)
        assert position is not None
        # All is read; our own transactions must not count among the running ones.
        self.close()
        with self._database.connect() as connection:
            now = read_horizon(connection)
        known = FloorState.from_state(self._state)
        return known.advanced(stream.order.to_text(position), bound[XMIN], now).to_state()


def _chunk_rows(stream: Stream) -> int:
    return max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_CELLS // len(stream.columns)))


def _with_end(pieces: Iterable[Piece], bound: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield pieces, the last one with the bound."""
    waiting: Piece | None = None
    for piece in pieces:
        if waiting is not None:
            yield waiting
        waiting = piece
    if waiting is not None:
        yield replace(waiting, bound=bound)


def _untied_rows(chunks: Iterable[Sequence[Any]], converter: RowConverter) -> Iterator[Sequence[Any]]:
    """Yield chunks that end between two timestamps, so that reading can continue after them."""
    held: list[Any] = []
    for chunk in chunks:
        held += chunk
        last = converter.position(held[-1])
        if converter.position(held[0]) == last:
            continue
        cut = next((at for at in range(len(held), 0, -1) if converter.position(held[at - 1]) != last), 0)
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _untied_tables(chunks: Iterable[pa.Table], places: Sequence[int]) -> Iterator[pa.Table]:
    held: pa.Table | None = None
    for chunk in chunks:
        held = chunk if held is None else pa.concat_tables([held, chunk])
        values = pc.coalesce(*(plain(held.column(place)) for place in places))
        cut = pc.sum(pc.not_equal(values, values[-1])).as_py() or 0
        if cut:
            yield held.slice(0, cut)
            held = held.slice(cut)
    if held is not None and held.num_rows:
        yield held
