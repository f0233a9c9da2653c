"""The task of a sink of tables: fits rows to their tables; writers stage them as files that no reader sees yet."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.connectors.filesystem.batch_rows import Extras, rows_of_batch, uniform
from connect_core.connectors.filesystem.tombstones import NullValues, without_nulls
from connect_core.connectors.lake.changes import Change, Changes, Upserts, changes_of, parts_of
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.routing import Routing, TableName
from connect_core.connectors.lake.table_rows import arrow_rows
from connect_core.connectors.partitioning import by_partition, by_topic
from connect_core.errors import AttemptError, DataError, RetriableError

__all__ = ["LakeSettings", "LakeSinkTask", "TableWriter"]

_BUFFERED = 256 * 1024 * 1024
"""How many bytes a task buffers at most, for all tables together."""


@dataclass(frozen=True, slots=True)
class LakeSettings:
    """How a record becomes a row of a table."""

    routing: Routing
    extras: Extras
    nulls: NullValues
    upserts: Upserts | None = None
    """``None``: every record is a row of its own."""
    compaction: Compaction | None = None
    """``None``: files are never merged."""


class TableWriter(Protocol):
    """Stages the rows of one table."""

    @property
    def buffered(self) -> int:
        """How many bytes are buffered."""

    def fit(self, rows: Any) -> Any:
        """Return rows, or Changes, ready for ``add``; stages nothing. Raises DataError if one does not fit."""

    def add(self, fit: Any) -> None:
        """Add what ``fit`` returned."""

    def flush(self) -> None:
        """Write the buffered rows."""

    def finish(self) -> Mapping[str, Any]:
        """Complete the files and return what the committer needs of them, as JSON."""

    def discard(self) -> None:
        """Close open files."""


class LakeSinkTask(SinkTask):
    """Writes rows in columns; record by record only if columns cannot represent them."""

    settings: LakeSettings

    def __init__(self) -> None:
        self._writers: dict[TableName, TableWriter] = {}

    @abstractmethod
    def writer(self, table: TableName) -> TableWriter:
        """Return the writer for the rows of a table. Raises ConnectError."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write records; those whose fields do not fit are reported, or fail the task."""
        if not records or self.put_batch(Batch.from_records(records)):
            return
        for record in records:
            try:
                self._add(self._fitted(Batch.from_records([record])))
            except DataError as error:
                self._refuse(record, error)

    def put_batch(self, batch: Batch) -> bool:
        """Write a whole batch, or nothing of it if some row does not fit."""
        try:
            fits = self._fitted(batch)
        except DataError:
            return False
        self._add(fits)
        return True

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Complete the files of all partitions; the detail of the first partition names them all."""
        ranges = {part.topic_partition: part for part in self.context.interval.ranges}
        with _only_once():
            tables = {".".join(name): writer.finish() for name, writer in self._writers.items()} if positions else {}
        staged: list[Staged] = []
        for read, end in positions.items():
            detail = {"topic_id": ranges[read].topic_id, "tables": {} if staged else tables}
            staged.append(Staged(read.topic, read.partition, ranges[read].start, end, detail))
        return staged

    def stop(self) -> None:
        """Close open files."""
        for writer in self._writers.values():
            writer.discard()

    def _fitted(self, batch: Batch) -> list[tuple[TableWriter, Any]]:
        """Return what to add, by writer; stages nothing. Raises DataError."""
        fits = []
        for change, part in self._parts(batch):
            for topic, piece in _pieces(part):
                whole: Any = None
                for table, wanted in self.settings.routing.tables_of(topic, piece):
                    if wanted is None and whole is None:
                        whole = self._input(change, piece)
                    given = whole if wanted is None else self._input(change, piece.take(wanted))
                    writer = self._writers.get(table) or self._begin(table)
                    fits.append((writer, writer.fit(given)))
        return fits

    def _parts(self, batch: Batch) -> Iterator[tuple[Change | None, Batch]]:
        upserts = self.settings.upserts
        if upserts is None or not upserts.tombstones:
            batch = without_nulls(batch, self.settings.nulls)
        yield from ((None, batch),) if upserts is None else parts_of(batch, upserts)

    def _input(self, change: Change | None, batch: Batch) -> pa.Table | Changes:
        """Return a uniform batch in the form that writers expect."""
        if change is None:
            return arrow_rows(rows_of_batch(batch, self.settings.extras))
        return changes_of(change, batch, self.settings.extras)

    def _begin(self, table: TableName) -> TableWriter:
        writer = self._writers[table] = self.writer(table)
        return writer

    def _add(self, fits: Sequence[tuple[TableWriter, Any]]) -> None:
        with _only_once():
            for writer, fit in fits:
                writer.add(fit)
            if sum(writer.buffered for writer in self._writers.values()) > _BUFFERED:
                self._make_room()

    def _make_room(self) -> None:
        """Write buffered rows, from the largest buffer on, until half of the limit is free."""
        held = sum(writer.buffered for writer in self._writers.values())
        for writer in sorted(self._writers.values(), key=lambda one: one.buffered, reverse=True):
            if held <= _BUFFERED // 2:
                return
            held -= writer.buffered
            writer.flush()

    def _refuse(self, record: SinkRecord, error: Exception) -> None:
        """Report a record that cannot be stored. Raises DataError unless errors are tolerated."""
        place = f"topic {record.original_topic}, partition {record.original_kafka_partition}"
        refusal = DataError(
            f"{place}, offset {record.kafka_offset}: {error}; fix the producer, cast the field by a transform, "
            "or let errors.tolerance=all skip such records"
        )
        refusal.__cause__ = error
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise refusal
        reporter.report(record, refusal)


@contextmanager
def _only_once() -> Iterator[None]:
    """End the attempt if rows were written in part: called again, a writer would leave rows out, or repeat them."""
    try:
        yield
    except RetriableError as error:
        raise AttemptError(str(error)) from error


def _pieces(batch: Batch) -> Iterator[tuple[str, Batch]]:
    for _, part in by_partition(batch):
        for topic, some in by_topic(part):
            for piece in uniform(some):
                yield topic, piece
