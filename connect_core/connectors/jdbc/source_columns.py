"""Arrow tables as batches: no Python code runs once a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns, SourcePositions
from connect_core.api.data import Schema, to_arrow_type
from connect_core.connectors.jdbc.source_positions import (
    INCREMENTING,
    KEY,
    TIMESTAMP,
    TIMESTAMP_NANOS,
    OrderPart,
    Role,
)
from connect_core.connectors.jdbc.source_rows import Row, RowConverter
from connect_core.connectors.jdbc.source_segments import Segment
from connect_core.connectors.jdbc.table_arrow import CannotSay, connect_array, has_skipped_hours, plain, to_utc
from connect_core.errors import DataError

__all__ = ["batches", "rows_of"]

_NEEDS_ESCAPING = r'["\\\x00-\x1f]'


def batches(converter: RowConverter, segment: Segment, table: pa.Table, bound: Mapping[str, Any] | None) -> list[Batch]:
    """Return a table's rows; with a ``bound``, the last one's offset is that, in a batch of its own."""
    try:
        whole = _batch(converter, segment, table)
    except (CannotSay, DataError):
        whole = _batch_of_records(converter, segment, table)
    if bound is None:
        return [whole]
    last = len(whole) - 1
    assert whole.positions is not None
    if converter.stream.order.may_tie:
        # Rows of one timestamp have one offset: they must come together.
        offsets = [offset for _, offset in whole.positions.to_list()]
        return [replace(whole, positions=replace(whole.positions, offset=(*offsets[:-1], bound)))]
    end = SourcePositions((converter.partition,), pa.array([0], pa.int32()), (bound,))
    parts = [replace(whole.take(pa.array([last], pa.int64())), positions=end)]
    return [whole.take(pa.array(range(last), pa.int64())), *parts] if last else parts


def rows_of(table: pa.Table) -> list[Row]:
    """Return a table's rows as a driver gives them."""
    return list(zip(*(plain(column).to_pylist() for column in table.columns), strict=True))


def _batch(converter: RowConverter, segment: Segment, table: pa.Table) -> Batch:
    key, value = _data(converter, table)
    offset = _offset_columns(converter, segment, table)
    places = tuple(converter.offsets(segment, rows_of(table))) if offset is None else offset
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
        positions=SourcePositions((converter.partition,), same, places),
    )


def _batch_of_records(converter: RowConverter, segment: Segment, table: pa.Table) -> Batch:
    """Return the batch of records made one by one: they name what columns cannot say, or can say more."""
    rows = rows_of(table)
    return Batch.from_records(converter.records(rows, converter.offsets(segment, rows)))


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


def _offset_columns(converter: RowConverter, segment: Segment, table: pa.Table) -> pa.StructArray | None:
    """Return the offsets of rows as columns, ``None`` where only Python can say them."""
    rows = table.num_rows
    fields: dict[str, pa.Array] = {name: pa.repeat(pa.scalar(value), rows) for name, value in segment.base.items()}
    arrays = [plain(table.column(places[0])) for places in converter.order_places]
    if any(len(places) != 1 for places in converter.order_places):
        return None
    parts = list(zip(converter.stream.order.parts, arrays, strict=True))
    if segment.cursor is not None:
        texts = _key_texts([array for _, array in parts])
        return None if texts is None else _named(fields | {segment.cursor: texts})
    for part, array in parts:
        found = _leading(part, array, _zone(converter))
        if found is None:
            return None
        fields |= found
    keys = [array for part, array in parts if part.role is Role.KEY]
    if keys:
        texts = _key_texts(keys)
        if texts is None:
            return None
        fields[KEY] = texts
    return _named(fields)


def _named(fields: Mapping[str, pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(fields.values()), list(fields))


def _leading(part: OrderPart, array: pa.Array, zone: ZoneInfo) -> dict[str, pa.Array] | None:
    if part.role is Role.KEY:
        return {}
    if part.role is Role.INCREMENTING:
        return {INCREMENTING: array.cast(pa.int64())} if pa.types.is_integer(array.type) else None
    if not pa.types.is_timestamp(array.type) or has_skipped_hours(array, zone):
        return None
    micros = to_utc(array, None if part.column.is_zoned else zone).to_numpy()
    return {
        TIMESTAMP: pa.array(np.floor_divide(micros, 1000), pa.int64()),
        TIMESTAMP_NANOS: pa.array(np.mod(micros, 1_000_000) * 1000, pa.int64()),
    }


def _key_texts(arrays: Sequence[pa.Array]) -> pa.Array | None:
    texts: list[pa.Array] = []
    for array in arrays:
        if pa.types.is_integer(array.type):
            texts.append(array.cast(pa.string()))
        elif pa.types.is_string(array.type) and not _needs_escaping(array):
            texts.append(pc.binary_join_element_wise('"', array, '"', ""))
        else:
            return None
    return pc.binary_join_element_wise("[", pc.binary_join_element_wise(*texts, ","), "]", "") if texts else None


def _needs_escaping(array: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(array, _NEEDS_ESCAPING)).as_py())


def _zone(converter: RowConverter) -> ZoneInfo:
    zone = converter.stream.order.zone
    assert isinstance(zone, ZoneInfo)
    return zone
