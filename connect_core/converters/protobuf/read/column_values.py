"""Numbers from the wire, converted to columns of the schema's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.arrow import to_arrow_array, to_arrow_type
from connect_core.api.data import Date, Decimal, Schema, SchemaType, Time
from connect_core.converters.protobuf.logical import SECONDS_LIMITS, day_of, decimal_of
from connect_core.converters.protobuf.read.values import enum_names
from connect_core.converters.protobuf.wire import FIXED32, FIXED64, VARINT, Rows, UnlikeError

__all__ = ["Finish", "finisher", "logical_column", "wire_type"]

Bits: TypeAlias = npt.NDArray[np.uint64]
Finish: TypeAlias = Callable[[Bits], pa.Array]
"""Converts the numbers of a field from their form on the wire to a column."""

_Field = FieldDescriptor
_FIXED32 = (_Field.TYPE_FIXED32, _Field.TYPE_SFIXED32, _Field.TYPE_FLOAT)
_FIXED64 = (_Field.TYPE_FIXED64, _Field.TYPE_SFIXED64, _Field.TYPE_DOUBLE)
_INT32 = (_Field.TYPE_INT32, _Field.TYPE_SFIXED32, _Field.TYPE_ENUM)


def _unzigzag(bits: Bits) -> npt.NDArray[np.int64]:
    return (bits >> np.uint64(1)).view(np.int64) ^ -(bits & np.uint64(1)).view(np.int64)


def _low(bits: Bits) -> npt.NDArray[np.int32]:
    return bits.astype(np.uint32).view(np.int32)


def _low_unsigned(bits: Bits) -> npt.NDArray[np.int64]:
    return bits.astype(np.uint32).astype(np.int64)


def _low_unzigzag(bits: Bits) -> npt.NDArray[np.int32]:
    return _unzigzag(bits.astype(np.uint32).astype(np.uint64)).astype(np.int32)


_NUMBERS: dict[int, Callable[[Bits], Any]] = {
    **dict.fromkeys(_INT32, _low),
    **dict.fromkeys((_Field.TYPE_UINT32, _Field.TYPE_FIXED32), _low_unsigned),
    _Field.TYPE_SINT32: _low_unzigzag,
    _Field.TYPE_SINT64: _unzigzag,
    _Field.TYPE_FLOAT: lambda bits: bits.astype(np.uint32).view(np.float32),
    _Field.TYPE_DOUBLE: lambda bits: bits.view(np.float64),
    _Field.TYPE_BOOL: lambda bits: bits != 0,
}
"""Types whose numbers are not simply 64-bit integers."""

_SMALL: dict[SchemaType, Any] = {SchemaType.INT8: np.int8, SchemaType.INT16: np.int16}


def wire_type(one: Any) -> int:
    """Return the wire type of a number or enum."""
    if one.type in _FIXED32:
        return FIXED32
    return FIXED64 if one.type in _FIXED64 else VARINT


def finisher(one: Any, schema: Schema) -> Finish:
    """Return the function that converts a field's numbers to a column."""
    if one.type == _Field.TYPE_ENUM and schema.type is SchemaType.STRING:
        return _enum(one.enum_type)
    numbers = _NUMBERS.get(one.type, _as_they_are)
    if one.type == _Field.TYPE_ENUM and one.enum_type.is_closed:
        numbers = _closed(one.enum_type)
    small = _SMALL.get(schema.type)
    if small is not None:
        return lambda bits: pa.array(numbers(bits).astype(small))
    return lambda bits: pa.array(numbers(bits))


def _as_they_are(bits: Bits) -> npt.NDArray[np.int64]:
    return bits.view(np.int64)


def _enum(enum: Any) -> Finish:
    names, unknown = enum_names(enum)

    def finish(bits: Bits) -> pa.Array:
        known, places = np.unique(_low(bits), return_inverse=True)
        if enum.is_closed:
            _refuse_unknown(known, names)
        texts = pa.array([names.get(number) or f"{unknown}{number}" for number in known.tolist()], pa.string())
        return texts.take(pa.array(places.reshape(-1)))

    return finish


def _closed(enum: Any) -> Callable[[Bits], Any]:
    names, _ = enum_names(enum)

    def numbers(bits: Bits) -> npt.NDArray[np.int32]:
        found = _low(bits)
        _refuse_unknown(np.unique(found), names)
        return found

    return numbers


def _refuse_unknown(numbers: npt.NDArray[np.int32], names: Mapping[int, str]) -> None:
    """The runtime takes a closed enum's unknown number for an unknown field: the field is not set."""
    if not names.keys() >= set(numbers.tolist()):
        raise UnlikeError


def logical_column(read: Callable[[Rows], dict[str, Any]], schema: Schema) -> Callable[[Rows], pa.Array]:
    """Return the function that reads messages as decimals, days or times; ``read`` returns their fields."""
    kind = to_arrow_type(schema)
    if schema.name == Decimal.LOGICAL_NAME:
        return lambda rows: _decimals(read(rows), schema)
    if schema.name == Date.LOGICAL_NAME:
        return lambda rows: _days(read(rows)).view(kind)
    return lambda rows: (_times(read(rows)) if schema.name == Time.LOGICAL_NAME else _points(read(rows))).view(kind)


def _decimals(fields: dict[str, Any], schema: Schema) -> pa.Array:
    parts = zip(fields["value"].to_pylist(), fields["precision"].tolist(), fields["scale"].tolist(), strict=True)
    column = to_arrow_array(schema, [decimal_of(*part) for part in parts])
    if column is None:
        raise UnlikeError
    return column


def _days(fields: dict[str, Any]) -> pa.Array:
    year, month, day = (fields[name] for name in ("year", "month", "day"))
    if bool(np.any((year < 1) | (year > 9999) | (month < 1) | (month > 12) | (day < 1) | (day > 31))):
        raise UnlikeError
    # Many rows usually have few distinct days.
    known, places = np.unique((year * 12 + month - 1) * 32 + day, return_inverse=True)
    days = [day_of(number // 32 // 12, number // 32 % 12 + 1, number % 32) for number in known.tolist()]
    return pa.array(np.array(days, np.int32)[places.reshape(-1)])


def _times(fields: dict[str, Any]) -> pa.Array:
    limits = {"hours": 24, "minutes": 60, "seconds": 60, "nanos": 1_000_000_000}
    if any(bool(np.any((fields[name] < 0) | (fields[name] >= limit))) for name, limit in limits.items()):
        raise UnlikeError
    seconds = (fields["hours"] * 60 + fields["minutes"]) * 60 + fields["seconds"]
    return pa.array((seconds * 1000 + fields["nanos"] // 1_000_000).astype(np.int32))


def _points(fields: dict[str, Any]) -> pa.Array:
    seconds, nanos = fields["seconds"], fields["nanos"]
    low, high = SECONDS_LIMITS
    if not bool(np.all((seconds >= low) & (seconds <= high) & (nanos >= 0) & (nanos < 1_000_000_000))):
        raise UnlikeError
    return pa.array(seconds * 1000 + nanos // 1_000_000)
