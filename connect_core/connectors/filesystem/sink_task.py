"""The task of FileSystemSink: stages the rows of its partitions and says what columns it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.connectors.control_folder import execution_of
from connect_core.connectors.filesystem.batch_rows import Extras, rows_of_batch, uniform
from connect_core.connectors.filesystem.columns import ColumnKinds, columns_of_texts, merge_columns
from connect_core.connectors.filesystem.config import CODEC, CONFIG, INCLUDE_KEY, INCLUDE_METADATA, checked_folder
from connect_core.connectors.filesystem.layout import Layout
from connect_core.connectors.filesystem.parquet import ParquetParts
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.staging import StagedRange
from connect_core.connectors.partitioning import by_partition, by_topic
from connect_core.connectors.path_names import escaped
from connect_core.errors import DataError

__all__ = ["FileSystemSinkTask"]

Target: TypeAlias = tuple[str, TopicPartition]
"""The topic transforms left, and the partition as read: what one file holds."""


@dataclass(frozen=True, slots=True)
class _Addition:
    target: Target
    rows: Rows
    columns: ColumnKinds
    offsets: pa.Array


class FileSystemSinkTask(SinkTask):
    """Stages rows in columns; records one by one only where columns cannot say them."""

    def __init__(self) -> None:
        self._ranges: dict[Target, StagedRange] = {}
        self._columns: dict[str, ColumnKinds] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Take the configuration. Raises ConfigError."""
        parsed = AbstractConfig(CONFIG, config)
        self._codec = parsed.get_string(CODEC) or ""
        self._extras = Extras(bool(parsed.get_boolean(INCLUDE_KEY)), bool(parsed.get_boolean(INCLUDE_METADATA)))
        layout = Layout(checked_folder(config, self.context.limits, is_at_work=True))
        self._control = layout.control(self.context.interval.key.connector)
        self._execution = execution_of(self.context.interval.attempt_id)
        self._stored = {
            topic: columns_of_texts(columns.items()) for topic, columns in self.context.interval.columns.items()
        }

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Take records; those whose fields do not fit are reported, or fail the task."""
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
        """Take a batch whole, or nothing of it where some row does not fit."""
        try:
            additions = self._prepared(batch)
        except DataError:
            return False
        self._add(additions)
        return True

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Complete the staged files and say where they are and what columns they have."""
        ranges = {part.topic_partition: part for part in self.context.interval.ranges}
        staged = []
        for read, end in positions.items():
            mine = [(topic, part) for (topic, place), part in self._ranges.items() if place == read]
            files = [part.finish(topic, self._columns.get(topic, ())) for topic, part in mine]
            detail = {
                "topic_id": ranges[read].topic_id,
                "attempt": self._execution,
                "files": [file.to_detail() for file in files],
            }
            staged.append(Staged(read.topic, read.partition, ranges[read].start, end, detail))
        return staged

    def stop(self) -> None:
        """Close what is open."""
        for part in self._ranges.values():
            part.discard()

    def _prepared(self, batch: Batch) -> list[_Addition]:
        """Return what is to be added; changes nothing. Raises DataError."""
        additions: list[_Addition] = []
        topics = dict(self._columns)
        ranges = {target: part.columns for target, part in self._ranges.items()}
        for target, piece in _pieces(batch):
            topic = target[0]
            rows = rows_of_batch(piece, self._extras)
            columns = rows.columns
            if rows.is_schemaless:
                columns = merge_columns(topics.get(topic, self._stored.get(topic, ())), columns)
                topics[topic] = columns
            ranges[target] = merge_columns(ranges.get(target, ()), columns)
            additions.append(_Addition(target, rows.fitted(ranges[target]), ranges[target], piece.offset))
        return additions

    def _add(self, additions: Sequence[_Addition]) -> None:
        for addition in additions:
            topic, read = addition.target
            rows = addition.rows
            if rows.is_schemaless:
                before = self._columns.get(topic, self._stored.get(topic, ()))
                self._columns[topic] = merge_columns(before, rows.columns)
            if addition.target not in self._ranges:
                self._ranges[addition.target] = StagedRange(self._parts(read))
            self._ranges[addition.target].add(rows, addition.columns, addition.offsets)

    def _parts(self, read: TopicPartition) -> ParquetParts:
        folder = self._control.attempt_folder(self.context.interval.key, self._execution)
        return ParquetParts(folder, f"{len(self._ranges)}+{escaped(read.topic)}+{read.partition}", self._codec)

    def _refuse(self, record: SinkRecord, error: Exception) -> None:
        """Report a record that cannot be stored. Raises DataError unless errors are tolerated."""
        place = f"topic {record.original_topic}, partition {record.original_kafka_partition}"
        refusal = DataError(
            f"{place}, offset {record.kafka_offset}: {error}; mend the producer, cast the field by a transform, "
            "or let errors.tolerance=all skip such records"
        )
        refusal.__cause__ = error
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise refusal
        reporter.report(record, refusal)


def _pieces(batch: Batch) -> Iterator[tuple[Target, Batch]]:
    for read, part in by_partition(batch):
        for topic, some in by_topic(part):
            for piece in uniform(some):
                yield (topic, read), piece
