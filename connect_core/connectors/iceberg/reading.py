"""Reads the rows of a data file in a table's columns, by field ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyiceberg.io.pyarrow import (
    ArrowAccessor,
    ArrowProjectionVisitor,
    _combine_positional_deletes,
    _get_column_projection_values,
    _get_file_format,
    pyarrow_to_schema,
)
from pyiceberg.schema import Schema, prune_columns, visit_with_partner
from pyiceberg.table import FileScanTask, Table
from pyiceberg.types import ListType, MapType

__all__ = ["batches_of"]

_BUFFER = 8 * 1024 * 1024


class _Projection(ArrowProjectionVisitor):  # type: ignore[misc]
    """Keeps lists and maps of structs that are null: pyiceberg's own returns them as empty ones."""

    def list(self, list_type: ListType, list_array: Any, value_array: Any) -> Any:
        return _with_nulls(super().list(list_type, list_array, value_array), list_array)

    def map(self, map_type: MapType, map_array: Any, key_result: Any, value_result: Any) -> Any:
        return _with_nulls(super().map(map_type, map_array, key_result, value_result), map_array)


def batches_of(
    table: Table, schema: Schema, task: FileScanTask, deletes: Sequence[pa.ChunkedArray]
) -> Iterator[pa.RecordBatch]:
    """Return the rows that are not deleted, in their order, a little at a time; ``schema``: the columns, with ids."""
    # As ArrowScan does, which reads the whole file first.
    metadata, file = table.metadata, task.file
    format_ = _get_file_format(file.file_format, pre_buffer=True, buffer_size=_BUFFER)
    with table.io.new_input(file.file_path).open() as source:
        fragment = format_.make_fragment(source)
        found = pyarrow_to_schema(fragment.physical_schema, metadata.name_mapping(), downcast_ns_timestamp_to_us=True)
        spec = metadata.specs().get(file.spec_id)
        missing = _get_column_projection_values(file, schema, metadata.schema(), spec, found.field_ids)
        wanted = {one for one in schema.field_ids if not isinstance(schema.find_type(one), (MapType, ListType))}
        names = [part.name for part in prune_columns(found, wanted, select_full_types=False).columns]
        projection = _Projection(
            found, True, projected_missing_fields=missing, allow_timestamp_tz_mismatch=True
        )  # fmt: skip
        scanner = ds.Scanner.from_fragment(fragment, schema=fragment.physical_schema, columns=names)
        for batch in _kept(scanner.to_batches(), deletes):
            yield pa.RecordBatch.from_struct_array(visit_with_partner(schema, batch, projection, ArrowAccessor(found)))


def _kept(batches: Iterator[pa.RecordBatch], deletes: Sequence[pa.ChunkedArray]) -> Iterator[pa.RecordBatch]:
    """Return batches without the rows at deleted positions; none is empty."""
    position = 0
    for batch in batches:
        end = position + len(batch)
        kept = batch.take(_combine_positional_deletes(list(deletes), position, end)) if deletes else batch
        position = end
        if len(kept):
            yield kept


def _with_nulls(projected: Any, original: Any) -> Any:
    if projected is None or projected.null_count == original.null_count:
        return projected
    # Arrow takes no mask beside offsets that are a slice.
    offsets = pa.array(projected.offsets.to_numpy(), projected.offsets.type)
    parts = (projected.keys, projected.items) if pa.types.is_map(projected.type) else (projected.values,)
    return type(projected).from_arrays(offsets, *parts, type=projected.type, mask=original.is_null())
