"""The task of FileSystemSink: stages the rows of its partitions and reports the columns it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.connectors.control_folder import execution_of
from connect_core.connectors.filesystem.batch_rows import uniform
from connect_core.connectors.filesystem.columns import ColumnKinds, columns_of_texts, merge_columns, stored
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.sink.config import Settings, open_storage
from connect_core.connectors.filesystem.sink.staging.files import StagedFiles, Target
from connect_core.connectors.filesystem.sink.staging.parts import Parts
from connect_core.connectors.filesystem.sink.staging.staged_file import FileKey, StagedData
from connect_core.connectors.filesystem.tombstones import without_nulls
from connect_core.connectors.partitioning import by_partition, by_topic, groups
from connect_core.connectors.path_names import escaped
from connect_core.errors import DataError

__all__ = ["FileSystemSinkTask"]


@dataclass(frozen=True, slots=True)
class _Addition:
    target: Target
    rows: Rows
    columns: ColumnKinds
    offsets: pa.Array
    is_separate: bool
    """Whether these rows start a new file."""
    is_schemaless: bool | None
    """Whether the file, with these rows, has the columns of its topic; ``None``: all values are null so far."""


class FileSystemSinkTask(SinkTask):
    """Stages rows in columns; record by record only if columns cannot represent them."""

    def __init__(self) -> None:
        self._files = StagedFiles(self._parts)
        self._columns: dict[str, ColumnKinds] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        self._settings = Settings.of(config)
        interval = self.context.interval
        self._ranges = {part.topic_partition: part for part in interval.ranges}
        self._layout = self._settings.layout(open_storage(config, self.context.limits, is_at_work=True))
        self._files.rotation = self._settings.rotation
        self._execution = execution_of(interval.attempt_id)
        self._staging = self._layout.staging(self._layout.control(interval.key.connector), interval.key)
        self._stored = {
            topic: columns_of_texts(columns.items()) for topic, columns in self.context.interval.columns.items()
        }

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write records; those whose fields do not fit are reported, or fail the task."""
        if not records or self.put_batch(Batch.from_records(records)):
            return
        for record in records:
            try:
                additions = self._prepared(Batch.from_records([record]))
            except DataError as error:
                self._refuse(record, error)
            else:
                self._add(additions)

    def put_batch(self, batch: Batch) -> bool:
        """Write a whole batch, or nothing of it if some row does not fit."""
        try:
            additions = self._prepared(batch)
        except DataError:
            return False
        self._add(additions)
        return True

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Complete the staged files and return their locations and columns."""
        staged = []
        for read, end in positions.items():
            detail = {
                "topic_id": self._ranges[read].topic_id,
                "attempt": self._execution,
                "bound": self.context.interval.bound_time,
                "files": [self._told(one) for one in self._files.finish(read, self._shared, self._finals(read, end))],
            }
            staged.append(Staged(read.topic, read.partition, self._ranges[read].start, end, detail))
        return staged

    def _told(self, file: StagedData) -> Mapping[str, Any]:
        return replace(file, ends=self._settings.partitioner.end_of(file.key.folder)).to_detail()

    def stop(self) -> None:
        """Close open files."""
        self._files.discard()

    def _prepared(self, batch: Batch) -> list[_Addition]:
        """Return the rows to add; changes nothing. Raises DataError."""
        additions: list[_Addition] = []
        topics = dict(self._columns)
        found: dict[Target, _Addition] = {}
        for topic, read, piece in _pieces(without_nulls(batch, self._settings.nulls)):
            rows = self._settings.format.rows(piece, self._settings.extras)
            for folder, some, offsets in self._shared_out(piece, rows):
                target = (read, FileKey(topic, folder))
                one = self._addition(target, some, offsets, found.get(target), topics)
                if one.is_schemaless:
                    topics[topic] = merge_columns(topics.get(topic, ()), one.columns)
                found[target] = one
                additions.append(one)
        self._check(additions, topics)
        return additions

    def _addition(
        self, target: Target, rows: Rows, offsets: pa.Array, last: _Addition | None, topics: Mapping[str, ColumnKinds]
    ) -> _Addition:
        """Return rows to add to what is staged and to ``last``, the addition before in the same file."""
        before = self._files.is_schemaless(target) if last is None else last.is_schemaless
        now = rows.is_schemaless
        after = before if now is None else before or now
        columns, topic = rows.columns, target[1].topic
        if after and now is not False:
            columns = merge_columns(topics.get(topic, self._stored.get(topic, ())), columns)
        earlier = self._files.columns(target) if last is None else last.columns
        united = self._settings.evolution.united(earlier, columns, is_schemaless=now)
        if united is None:
            return _Addition(target, rows.fitted(columns), columns, offsets, True, now)
        return _Addition(target, rows.fitted(united), united, offsets, False, after)

    def _check(self, additions: Sequence[_Addition], topics: Mapping[str, ColumnKinds]) -> None:
        """Raise DataError if rows, these or earlier ones, do not fit the columns that their files have with all."""
        found: dict[Target, ColumnKinds] = {}
        for addition in reversed(additions):
            columns = found.setdefault(addition.target, addition.columns)
            shared = topics[addition.target[1].topic] if addition.is_schemaless else ()
            addition.rows.fitted(merge_columns(columns, shared))
            if addition.is_separate:
                del found[addition.target]
        for target, columns in found.items():
            self._files.check(target, columns)
        for topic, columns in topics.items():
            if columns != self._columns.get(topic):
                self._files.check_topic(topic, columns)

    def _shared_out(self, batch: Batch, rows: Rows) -> Iterator[tuple[str, Rows, pa.Array]]:
        """Return the rows of each folder with their offsets, in the order of the batch."""
        for folder, wanted in groups(self._settings.partitioner.folders(batch)):
            if wanted is None:
                yield folder, rows, batch.offset
            else:
                yield folder, rows.take(wanted), batch.offset.take(wanted)

    def _add(self, additions: Sequence[_Addition]) -> None:
        for addition in additions:
            rows, topic = addition.rows, addition.target[1].topic
            if addition.is_schemaless:
                self._columns[topic] = merge_columns(self._columns.get(topic, ()), addition.columns)
            if addition.is_separate:
                self._files.end(addition.target)
            self._files.add(addition.target, rows, addition.columns, addition.offsets)

    def _shared(self, topic: str) -> ColumnKinds:
        return self._columns.get(topic, self._stored.get(topic, ()))

    def _finals(self, read: TopicPartition, end: int) -> Callable[[FileKey], str]:
        """Return a function that names a file if its end is known, unless the driver may have to add columns to it."""
        part = self._ranges[read]

        def name(key: FileKey) -> str:
            if stored(self._shared(key.topic)) != stored(self._stored.get(key.topic, ())):
                return ""
            return self._layout.final_name(key, read, part.start, end, part.topic_id)

        return name

    def _parts(self, number: int, read: TopicPartition, key: FileKey) -> Parts:
        part = self._ranges[read]
        expected = self._layout.final_name(key, read, part.start, part.end)
        name = f"{self._execution}/{number}+{escaped(read.topic)}+{read.partition}"
        return Parts(self._staging, self._settings.format, name, expected)

    def _refuse(self, record: SinkRecord, error: Exception) -> None:
        """Report a record that cannot be stored. Raises DataError unless errors are tolerated."""
        place = f"topic {record.original_topic}, partition {record.original_kafka_partition}"
        refusal = DataError(
            f"{place}, offset {record.kafka_offset}: {error}; fix the producer, cast the field with a transform, "
            "or let errors.tolerance=all skip such records"
        )
        refusal.__cause__ = error
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise refusal
        reporter.report(record, refusal)


def _pieces(batch: Batch) -> Iterator[tuple[str, TopicPartition, Batch]]:
    for read, part in by_partition(batch):
        for topic, some in by_topic(part):
            for piece in uniform(some):
                yield topic, read, piece
