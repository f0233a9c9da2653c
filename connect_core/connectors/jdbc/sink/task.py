"""The task of the JDBC sink: collects rows, and commits them with their positions in one transaction."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.data import Schema
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.connection import open_database
from connect_core.connectors.jdbc.sink.config import sink_settings
from connect_core.connectors.jdbc.sink.offsets import Owner, offsets_table
from connect_core.connectors.jdbc.sink.preparing import Preparation
from connect_core.connectors.jdbc.sink.rows import Rows, rows_of_batch
from connect_core.connectors.jdbc.sink.transaction import BadRowError, TargetWriter
from connect_core.errors import DataError

__all__ = ["JdbcSinkTask"]

_MOST_ROWS = 100_000
_MOST_BYTES = 64 << 20
_MOST_SECONDS = 10.0
"""The limits of one transaction, the same as of the source's transactions."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    batch: Batch
    rows: Rows


class JdbcSinkTask(SinkTask):
    """Writes whole batches; single records only to find those that do not fit."""

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        self._settings = settings = sink_settings(config)
        database = open_database(settings.connection, self.context.limits)
        interval = self.context.interval
        owner = Owner(interval.key.connector, interval.key.epoch, interval.attempt_id)
        own = offsets_table(settings.offsets_table, database.dialect.column_type)
        preparation = Preparation(owner.connector, database, settings, own.schemas)
        self._writer = TargetWriter(database, settings, owner, own, preparation)
        self._preparation = preparation
        self._committed = {part.topic_partition: part.start for part in interval.ranges}
        self._reached = dict(self._committed)
        self._gathered: list[_Gathered] = []
        self._raised: dict[TableName, Schema] = {}
        self._began = time.monotonic()

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Add records; those that do not fit are reported, or fail the task."""
        if not records or self.put_batch(Batch.from_records(records)):
            return
        for record in records:
            batch = Batch.from_records([record])
            try:
                self._take(batch)
            except DataError as error:
                self._refuse(batch, error)
                self._advance(batch)

    def put_batch(self, batch: Batch) -> bool:
        """Add a whole batch, or nothing of it if some row does not fit."""
        if self._is_full():
            self._flush()
        try:
            self._take(batch)
        except DataError:
            return False
        return True

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Commit the collected rows with the last positions."""
        starts = {part.topic_partition: part.start for part in self.context.interval.ranges}
        self._reached.update(positions)
        self._flush()
        return [Staged(*part, starts[part], end, {}) for part, end in positions.items()]

    def stop(self) -> None:
        """Close the connection."""
        writer = getattr(self, "_writer", None)
        if writer is not None:
            writer.close()

    def _take(self, batch: Batch) -> None:
        """Collect a batch; changes nothing if a row does not fit. Raises DataError."""
        pieces = self._preparation.with_tables(list(rows_of_batch(batch, self._settings)))
        raised = dict(self._raised)
        self._preparation.fit(pieces, raised)
        self._raised = raised
        if not self._gathered:
            self._began = time.monotonic()
        self._gathered += [_Gathered(batch, rows) for rows in pieces]
        self._advance(batch)

    def _advance(self, batch: Batch) -> None:
        topic, partition = batch.original or (batch.topic, batch.partition)
        places = pa.table({"topic": topic.cast(pa.string()), "partition": partition, "offset": batch.offset})
        last = places.group_by(["topic", "partition"]).aggregate([("offset", "max")])
        for row in last.to_pylist():
            self._reached[TopicPartition(row["topic"], row["partition"])] = row["offset_max"] + 1

    def _is_full(self) -> bool:
        rows = sum(len(one.rows) for one in self._gathered)
        size = sum(column.array.nbytes for one in self._gathered for column in one.rows.columns)
        is_late = bool(self._gathered) and time.monotonic() - self._began > _MOST_SECONDS
        return rows >= _MOST_ROWS or size >= _MOST_BYTES or is_late

    def _flush(self) -> None:
        """Commit the collected rows; on RetriableError all of them are kept, so that the next call retries."""
        while True:
            moves = {
                part: (self._committed[part], end)
                for part, end in self._reached.items()
                if end != self._committed[part]
            }
            if not moves and not self._gathered:
                return
            try:
                self._writer.write([one.rows for one in self._gathered], moves)
            except BadRowError as error:
                self._leave_out(error)
            else:
                self._committed.update(self._reached)
                self._gathered.clear()
                self._raised.clear()
                return

    def _leave_out(self, error: BadRowError) -> None:
        """Report one row and continue without it. Raises DataError unless errors are tolerated."""
        one = self._gathered[error.piece]
        place = one.rows.places.take(pa.array([error.row], pa.int64()))
        topic, partition = one.batch.original or (one.batch.topic, one.batch.partition)
        same = pc.and_(pc.equal(topic.cast(pa.string()), place.topic[0]), pc.equal(partition, place.partition[0]))
        self._refuse(one.batch.filter(pc.and_(same, pc.equal(one.batch.offset, place.offset[0]))), error)
        others = pa.array([row for row in range(len(one.rows)) if row != error.row], pa.int64())
        if len(others):
            self._gathered[error.piece] = replace(one, rows=one.rows.take(others))
        else:
            del self._gathered[error.piece]

    def _refuse(self, batch: Batch, error: DataError) -> None:
        """Report a record that cannot be stored. Raises DataError unless errors are tolerated."""
        refusal = DataError(f"{error}; fix the producer or the table, or set errors.tolerance=all to skip such records")
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise refusal from error
        for record in batch.to_records():
            assert isinstance(record, SinkRecord)
            reporter.report(record, refusal)
