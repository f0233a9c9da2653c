"""Arrow tables as batches, without Python code per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from connect_core.api.arrow import to_arrow_type
from connect_core.api.batch import Batch, Columns, LazyOffsets, SourcePositions
from connect_core.api.data import Schema
from connect_core.connectors.jdbc.source.arrow_values import NotColumnar, connect_array, plain
from connect_core.connectors.jdbc.source.row_records import Row, RowConverter
from connect_core.connectors.jdbc.source.segments import Segment
from connect_core.errors import DataError

__all__ = ["batches", "rows_of"]


def batches(converter: RowConverter, segment: Segment, table: pa.Table, bound: Mapping[str, Any] | None) -> list[Batch]:
    """Return a table's rows; with a ``bound``, the last row has this offset, in a separate batch."""
    try:
        whole = _batch(converter, segment, table)
    except (NotColumnar, DataError):
        whole = _batch_of_records(converter, segment, table)
    if bound is None:
        return [whole]
    last = len(whole) - 1
    assert whole.positions is not None
    if converter.stream.order.may_tie:
        # Rows of one timestamp have one offset: they must be in the same batch.
        offsets = whole.positions.offsets()
        return [replace(whole, positions=replace(whole.positions, offset=(*offsets[:-1], bound)))]
    end = SourcePositions((converter.partition,), pa.array([0], pa.int32()), (bound,))
    parts = [replace(whole.take(pa.array([last], pa.int64())), positions=end)]
    return [whole.take(pa.array(range(last), pa.int64())), *parts] if last else parts


def rows_of(table: pa.Table) -> list[Row]:
    """Return a table's rows in the form a driver returns."""
    return list(zip(*(plain(column).to_pylist() for column in table.columns), strict=True))


def _batch(converter: RowConverter, segment: Segment, table: pa.Table) -> Batch:
    key, value = _data(converter, table)
    rows = table.num_rows
    same = pa.repeat(pa.scalar(0, pa.int32()), rows)
    return Batch(
        topic=pa.DictionaryArray.from_arrays(same, pa.array([converter.stream.topic])),
        partition=pa.nulls(rows, pa.int32()),
        offset=pa.nulls(rows, pa.int64()),
        timestamp=pa.nulls(rows, pa.int64()),
        origin=pa.array(np.arange(rows, dtype=np.int64)),
        key=key,
        value=value,
        positions=SourcePositions((converter.partition,), same, _offsets(converter, segment, table)),
    )


def _batch_of_records(converter: RowConverter, segment: Segment, table: pa.Table) -> Batch:
    """Return the batch of records made one by one: they name what columns cannot represent, or can represent more."""
    try:
        rows = rows_of(table)
    except (OverflowError, ValueError) as error:
        raise DataError(
            f"In {converter.stream.name}: {_unreadable(converter, table)}; correct it, or omit it by a query"
        ) from error
    return Batch.from_records(converter.records(rows, converter.offsets(segment, rows)))


def _unreadable(converter: RowConverter, table: pa.Table) -> str:
    """Return the first value that has no form in Python: an infinite time, or one after the year 9999."""
    for column, array in zip(converter.stream.columns, table.columns, strict=True):
        for row, value in enumerate(plain(array)):
            try:
                value.as_py()
            except (OverflowError, ValueError):
                keys = ((one.name, table.column(converter.stream.index(one))[row]) for one in converter.stream.key)
                key = ", ".join(f"{name}={getattr(one, 'value', one)}" for name, one in keys) or "none"
                shown = f"{getattr(value, 'value', '')} ({value.type})"
                return f"value {shown} of column {column.name}, key {key}, is not within the years 1 to 9999"
    return "a value cannot be represented"


def _data(converter: RowConverter, table: pa.Table) -> tuple[Columns, Columns]:
    zone = _zone(converter)
    columns = converter.stream.columns
    arrays = [connect_array(column, array, zone) for column, array in zip(columns, table.columns, strict=True)]
    value = _structs(converter.value_schema, arrays)
    if converter.key_schema is None:
        return Columns(None, pa.nulls(table.num_rows)), value
    return _structs(converter.key_schema, [arrays[place] for place in converter.key_places]), value


def _structs(schema: Schema, arrays: Sequence[pa.Array]) -> Columns:
    kind = to_arrow_type(schema)
    fields = [kind.field(index) for index in range(kind.num_fields)]
    return Columns(schema, pa.StructArray.from_arrays(arrays, fields=fields))


def _offsets(converter: RowConverter, segment: Segment, table: pa.Table) -> LazyOffsets:
    """Return the offsets after the rows; only the columns of the order are kept for this."""
    kept = sorted({place for places in converter.order_places for place in places}) or [0]
    places = tuple(tuple(map(kept.index, places)) for places in converter.order_places)
    of_kept = replace(converter, order_places=places)
    return LazyOffsets(table.select(kept), lambda rows: of_kept.offsets(segment, rows_of(rows)))


def _zone(converter: RowConverter) -> ZoneInfo:
    zone = converter.stream.order.zone
    assert isinstance(zone, ZoneInfo)
    return zone
