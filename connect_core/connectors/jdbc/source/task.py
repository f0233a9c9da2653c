"""The task of the JDBC source: reads its streams one after the other, as rows or as columns."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.connectors.jdbc.connection import JdbcDatabase, open_database
from connect_core.connectors.jdbc.source.column_batches import batches
from connect_core.connectors.jdbc.source.config import TASK_SINCE, TASK_STREAMS, SourceSettings, source_settings
from connect_core.connectors.jdbc.source.query_right import check_query_right
from connect_core.connectors.jdbc.source.reading import Piece, StreamReading
from connect_core.connectors.jdbc.source.stream import StreamName, names_from_json
from connect_core.errors import ConnectError, RetriableError

__all__ = ["JdbcSourceTask"]

_LOG = logging.getLogger(__name__)
_WAIT_SECONDS = 0.2


class JdbcSourceTask(SourceTask):
    """Reads tables, key ranges or a query up to the planned bounds.

    On PostgreSQL ``poll_batch`` reads Arrow columns through ADBC; ``poll`` reads rows through SQLAlchemy on any
    database. Connect's JDBC source: ``JdbcSourceTask``.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._polling = threading.Lock()
        self._records: Iterator[list[SourceRecord]] | None = None
        self._batches: Iterator[Batch] | None = None
        self._reading: StreamReading | None = None
        self._is_exhausted = False
        self._states: dict[str, Mapping[str, str]] = {}
        self._offsets: dict[str, Mapping[str, Any]] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Read the settings, the streams and their committed offsets, without connecting yet."""
        self._settings: SourceSettings = source_settings(config)
        check_query_right(self._settings, self.context.limits)
        self._since = int(config.get(TASK_SINCE) or 0)
        self._names: Sequence[StreamName] = names_from_json(config.get(TASK_STREAMS, ""))
        self._database: JdbcDatabase = open_database(self._settings.connection, self.context.limits)
        reader = self.context.offset_storage_reader
        for partition, offset in reader.offsets([name.partition() for name in self._names]):
            if offset is not None:
                self._offsets[canonical(partition)] = offset
        self._states.update(self.context.offset_states)

    def stop(self) -> None:
        """Stop reading; a running statement is cancelled."""
        self._stopped.set()
        if self._polling.acquire(timeout=1.0):
            try:
                self._close()
            finally:
                self._polling.release()
        elif self._reading is not None:
            self._reading.cancel()

    def poll(self) -> Sequence[SourceRecord] | None:
        """Return up to ``batch.max.rows`` rows; more only if no key distinguishes rows of one timestamp."""
        with self._polling:
            if self._records is None:
                self._records = self._read_records()
            records: Sequence[SourceRecord] | None = self._next(self._records)
            return records

    def poll_batch(self) -> Batch | None:
        """Return the next rows as columns; ``None`` if the database is not PostgreSQL."""
        if self._database.engine.dialect.name != "postgresql":
            return None
        with self._polling:
            if self._batches is None:
                self._batches = self._read_batches()
            found = self._next(self._batches)
            return Batch.from_records([]) if found is None else found

    def offset_state(self, partition: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return the version of a stream's schema and where late rows are searched for."""
        return self._states.get(canonical(partition))

    def is_exhausted(self) -> bool:
        """Return whether everything up to the bounds has been read; rows may have been deleted since the plan."""
        return self._is_exhausted

    def _next(self, found: Iterator[Any]) -> Any:
        if self._stopped.is_set():
            return None
        is_done = False
        try:
            answer = next(found, None)
            is_done = True
        finally:
            if not is_done:
                self._close()
        if answer is None:
            if self._is_exhausted:
                self._stopped.wait(_WAIT_SECONDS)
            self._is_exhausted = True
        return answer

    def _close(self) -> None:
        """Close the connections; the next poll continues after the last returned row."""
        for found in (self._records, self._batches):
            close = getattr(found, "close", None)
            if close is not None:
                close()
        if not self._is_exhausted:
            self._records = self._batches = None

    def _read_records(self) -> Iterator[list[SourceRecord]]:
        for reading, piece in self._pieces(is_columnar=False):
            offsets = reading.converter.offsets(piece.segment, piece.chunk)
            if piece.bound is not None:
                offsets[-1] = dict(piece.bound)
            records = reading.converter.records(piece.chunk, offsets)
            self._offsets[reading.key] = offsets[-1]
            self._states[reading.key] = reading.state_after(piece)
            yield records

    def _read_batches(self) -> Iterator[Batch]:
        for reading, piece in self._pieces(is_columnar=True):
            found = batches(reading.converter, piece.segment, piece.chunk, piece.bound)
            for number, batch in enumerate(found, 1):
                part = piece if number == len(found) else piece.unfinished()
                self._offsets[reading.key] = _last_offset(batch)
                self._states[reading.key] = reading.state_after(part, is_seen=number > 1)
                yield batch

    def _pieces(self, is_columnar: bool) -> Iterator[tuple[StreamReading, Piece]]:
        bounds = self.context.upper_bounds
        for name in self._names:
            key = canonical(name.partition())
            offset = self._offsets.get(key)
            bound = None if bounds is None else bounds.get(key)
            if self._stopped.is_set() or (bounds is not None and (bound is None or bound == offset)):
                continue
            reading = StreamReading(self._database, self._settings, name, self._states.get(key) or {}, self._since)
            self._reading = reading
            try:
                for piece in reading.pieces(offset, bound, is_columnar):
                    yield reading, piece
            except RetriableError:
                raise
            except ConnectError:
                if reading.exists():
                    raise
                _LOG.warning("%s no longer exists: its stream ends at %s", name, self._offsets.get(key))
            finally:
                reading.close()
                self._reading = None


def _last_offset(batch: Batch) -> Mapping[str, Any]:
    assert batch.positions is not None
    _, offset = batch.positions.at(len(batch) - 1)
    return offset or {}
