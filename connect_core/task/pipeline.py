"""The chain of transforms over batches: in columns where possible, record by record otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns, Data, Objects
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord
from connect_core.api.transform import FlowStage, Transformation
from connect_core.task.tolerance import Place, Stage, Step, Tolerance

__all__ = ["Pipeline", "apply_columns", "apply_record", "columnar", "merge", "place_of"]


@dataclass(slots=True)
class Pipeline:
    """Applies stages to batches; ``fallbacks`` counts batches that needed the record lane."""

    stages: Sequence[FlowStage]
    tolerance: Tolerance
    fallbacks: int = 0
    _warned: set[int] = field(default_factory=set)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch after all stages; dropped and skipped rows are absent."""
        fell_back = False
        for stage in self.stages:
            if not len(batch):
                break
            changed = apply_columns(stage, batch)
            if changed is None:
                fell_back = True
                changed = self._apply_records(stage, batch)
            batch = changed
        self.fallbacks += fell_back
        return batch

    def close(self) -> None:
        """Close every transform and predicate."""
        for stage in self.stages:
            stage.transformation.close()
            if stage.predicate is not None:
                stage.predicate.close()

    def _apply_records(self, stage: FlowStage, batch: Batch) -> Batch:
        kept: list[ConnectRecord] = []
        origins: list[int] = []
        for record, origin in zip(batch.to_records(), batch.origin.to_pylist(), strict=True):
            try:
                result = apply_record(stage, record)
            except Exception as error:
                step = Step(Stage.TRANSFORMATION, stage.transformation, place_of(record, origin), record)
                result = self.tolerance.recover(step, partial(apply_record, stage, record), error).result
            if result is not None:
                kept.append(result)
                origins.append(origin)
        return columnar(Batch.from_records(kept, origins) if kept else batch.take(pa.array([], pa.int64())))


def place_of(record: ConnectRecord, row: int) -> Place:
    """Return the place of a record."""
    if isinstance(record, SinkRecord):
        return Place(record.original_topic, record.original_kafka_partition, record.kafka_offset, row)
    source = (record.source_partition, record.source_offset) if isinstance(record, SourceRecord) else None
    return Place(record.topic, record.kafka_partition, None, row, source)


def apply_record(stage: FlowStage, record: ConnectRecord) -> ConnectRecord | None:
    """Return a record after one stage."""
    if stage.predicate is not None and stage.predicate.test(record) == stage.negate:
        return record
    return stage.transformation.apply(record)


def apply_columns(stage: FlowStage, batch: Batch) -> Batch | None:
    """Return a batch in columns after one stage; ``None`` if it can be done only record by record."""
    try:
        if stage.predicate is None:
            return stage.transformation.apply_batch(batch)
        mask = stage.predicate.test_batch(batch)
        if mask is None:
            return None
        return _apply_where(stage.transformation, batch, pc.invert(mask) if stage.negate else mask)
    except Exception:
        # Whatever the error, the record lane meets it again and reports the record.
        return None


def _apply_where(transformation: Transformation, batch: Batch, mask: pa.Array) -> Batch | None:
    chosen = pc.sum(mask).as_py() or 0
    if chosen == 0:
        return batch
    if chosen == len(batch):
        return transformation.apply_batch(batch)
    changed = transformation.apply_batch(batch.filter(mask))
    if changed is None:
        return None
    return merge(changed, batch.filter(pc.invert(mask)))


def merge(left: Batch, right: Batch) -> Batch | None:
    """Return the rows of two parts of one batch in the order of the input."""
    if not len(left) or not len(right):
        return right if len(right) else left
    if (left.headers is None) != (right.headers is None) or left.original is not None or right.original is not None:
        return None
    together = replace(
        left,
        topic=_joined(left.topic, right.topic),
        partition=_joined(left.partition, right.partition),
        offset=_joined(left.offset, right.offset),
        timestamp=_joined(left.timestamp, right.timestamp),
        origin=_joined(left.origin, right.origin),
        key=_joined_data(left.key, right.key),
        value=_joined_data(left.value, right.value),
        headers=left.headers and right.headers and left.headers + right.headers,
        positions=left.positions and right.positions and left.positions.joined(right.positions),
    )
    return together.take(pc.sort_indices(together.origin).cast(pa.int64()))


def columnar(batch: Batch) -> Batch:
    """Return the batch with key and value in columns wherever columns can represent them."""
    return replace(batch, key=batch.key.to_columns() or batch.key, value=batch.value.to_columns() or batch.value)


def _joined(left: pa.Array, right: pa.Array) -> pa.Array:
    if left.type != right.type:
        left, right = left.cast(pa.string()), right.cast(pa.string())
    if pa.types.is_dictionary(left.type):
        return pa.chunked_array([left, right]).unify_dictionaries().combine_chunks()
    return pa.concat_arrays([left, right])


def _joined_data(left: Data, right: Data) -> Data:
    if isinstance(left, Columns) and isinstance(right, Columns) and _are_alike(left, right):
        return Columns(left.schema, pa.concat_arrays([left.array, right.array]))
    one, two = left.to_objects(), right.to_objects()
    return Objects([*one.schemas, *two.schemas], [*one.values, *two.values])


def _are_alike(left: Columns, right: Columns) -> bool:
    return left.schema == right.schema and bool(left.array.type == right.array.type)
