"""Columns of days, times and decimals as the messages that represent them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.api.data import Date, Decimal, Schema, Time
from connect_core.converters.arrays import integers_of
from connect_core.converters.decimals import unscaled_bytes
from connect_core.converters.protobuf.indexes import varint
from connect_core.converters.protobuf.logical import SECONDS_LIMITS
from connect_core.converters.protobuf.wire import LENGTH, VARINT, UnlikeError
from connect_core.converters.protobuf.write.wire import framed_column, joined, varint_column
from connect_core.java.dates.calendar import to_civil

__all__ = ["logical_fields"]

Ints = npt.NDArray[np.int64]


def logical_fields(schema: Schema) -> Callable[[pa.Array], pa.BinaryArray]:
    """Return the function that writes the bodies of messages; the bodies of null rows are undefined."""
    if schema.name == Decimal.LOGICAL_NAME:
        return _decimals
    if schema.name == Date.LOGICAL_NAME:
        return _days
    return _times if schema.name == Time.LOGICAL_NAME else _points


def _integers(column: pa.Array) -> Ints:
    found = integers_of(column)
    if found is None:
        raise UnlikeError
    numbers: Ints = found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _points(column: pa.Array) -> pa.BinaryArray:
    seconds, millis = np.divmod(_integers(column), 1000)
    if bool(np.any((seconds < SECONDS_LIMITS[0]) | (seconds > SECONDS_LIMITS[1]))):
        raise UnlikeError
    return _numbers([seconds, millis * 1_000_000])


def _times(column: pa.Array) -> pa.BinaryArray:
    seconds, millis = np.divmod(_integers(column), 1000)
    return _numbers([seconds // 3600, seconds // 60 % 60, seconds % 60, millis * 1_000_000])


def _days(column: pa.Array) -> pa.BinaryArray:
    # Many rows usually have few distinct days.
    known, places = np.unique(_integers(column), return_inverse=True)
    dates = np.array([to_civil(day) for day in known.tolist()], np.int64).reshape(-1, 3)
    if len(dates) and not 1 <= int(dates[:, 0].min()) <= int(dates[:, 0].max()) <= 9999:
        raise UnlikeError
    found = dates[places.reshape(-1)]
    return _numbers([found[:, 0], found[:, 1], found[:, 2]])


def _decimals(column: pa.Array) -> pa.BinaryArray:
    if not pa.types.is_decimal128(column.type):
        raise UnlikeError
    filled = column.fill_null(0) if column.null_count else column
    unscaled = unscaled_bytes(filled)
    present = np.ones(len(column), np.bool_)
    digits = [len(value.as_tuple().digits) for value in filled.to_pylist()]
    scale = np.full(len(column), column.type.scale, np.int64)
    data = framed_column(unscaled, present, varint(1 << 3 | LENGTH))
    return joined([data, _numbers([np.array(digits, np.int64), scale], first=2)], len(column))


def _numbers(fields: Sequence[Ints], first: int = 1) -> pa.BinaryArray:
    pieces = [
        varint_column(numbers.astype(np.int64).view(np.uint64), numbers != 0, varint(number << 3 | VARINT))
        for number, numbers in enumerate(fields, first)
    ]
    return joined(pieces, len(fields[0]))
