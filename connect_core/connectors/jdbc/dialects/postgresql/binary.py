"""Columns in the binary form of PostgreSQL's COPY, made by pgpq: it costs the server a third less than text.

The server converts nothing in it, and accepts eight bytes of one type for those of another: each Arrow type must match
the column's current type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pgpq
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["in_binary"]

_TYPES: Mapping[int, pa.DataType] = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    25: pa.string(),
    700: pa.float32(),
    701: pa.float64(),
    1043: pa.string(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"),
}
"""``pg_type.oid`` (``pg_type.dat``) → the Arrow type whose values are written as the column's."""
_BATCH_ROWS = 16_384
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_FARTHEST = {
    pa.date32(): (_FIRST_DAY, _LAST_DAY),
    pa.timestamp("us"): (_FIRST_DAY * 86_400_000_000, _LAST_DAY * 86_400_000_000),
}
"""Years 1 to 9999: dates outside this range are left to the server to check."""


def in_binary(data: pa.Table, types: Mapping[str, int]) -> Iterator[bytes] | None:
    """Return rows as pieces of a binary COPY; ``None`` if the server has to convert a column.

    ``types``: the ``pg_type.oid`` of each column.
    """
    columns = [_as_is(data[name].combine_chunks(), types.get(name)) for name in data.column_names]
    if any(column is None for column in columns):
        return None
    return _pieces(pa.table(columns, names=data.column_names))


def _pieces(data: pa.Table) -> Iterator[bytes]:
    encoder = pgpq.ArrowToPostgresBinaryEncoder(data.schema)
    yield encoder.write_header()
    for batch in data.to_batches(max_chunksize=_BATCH_ROWS):
        yield encoder.write_batch(batch)
    yield encoder.finish()


def _as_is(array: pa.Array, oid: int | None) -> pa.Array | None:
    """Return a column in the type of its PostgreSQL column, ``None`` if that would change its values."""
    wanted = None if oid is None else _TYPES.get(oid)
    if wanted is None:
        return None
    if array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    if array.type != wanted and not _is_another_size(array.type, wanted):
        return None
    try:
        array = array.cast(wanted)
    except pa.ArrowInvalid:
        return None
    return array if _is_near(array) else None


def _is_another_size(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a conversion only changes the width of values, if they fit."""
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(wanted):
        return (kind.tz is None) == (wanted.tz is None)
    return bool(pa.types.is_integer(kind) and pa.types.is_integer(wanted))


def _is_near(array: pa.Array) -> bool:
    numbers, kind = (pa.int64(), pa.timestamp("us")) if pa.types.is_timestamp(array.type) else (pa.int32(), array.type)
    if kind not in _FARTHEST:
        return True
    first, last = _FARTHEST[kind]
    found = pc.min_max(array.view(numbers))
    return bool(first <= found["min"].as_py() and found["max"].as_py() <= last)
