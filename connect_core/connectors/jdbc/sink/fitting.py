"""Converts Arrow columns to the form of a table's column, or refuses them with the reason."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

from connect_core.api.arrow import to_python
from connect_core.api.data import Instant, Schema, SchemaType, Struct
from connect_core.connectors.jdbc.catalog import BINARY_TYPES, Column
from connect_core.connectors.jdbc.decimal_texts import decimals_of
from connect_core.connectors.jdbc.wall_clock import from_wall_clock, to_wall_clock
from connect_core.errors import DataError

__all__ = ["Misfit", "family_of", "fitted", "json_text", "shown_value"]

_REFUSED = (pa.ArrowException, OverflowError, ValueError)


class Misfit(DataError):
    """A field's values do not fit a column; ``row``: the first that does not, if the error is that of a value."""

    row: int | None = None


_FAMILIES: tuple[tuple[tuple[type[TypeEngine[Any]], ...], str], ...] = (
    ((sa.Boolean,), "boolean"),
    ((sa.Integer,), "integer"),
    ((sa.Float,), "float"),
    ((sa.Numeric,), "decimal"),
    ((sa.DateTime,), "timestamp"),
    ((sa.Date,), "date"),
    ((sa.Time,), "time"),
    (BINARY_TYPES, "bytes"),
    ((sa.ARRAY,), "array"),
    ((sa.JSON,), "json"),
    ((sa.String,), "text"),
)


def family_of(type: TypeEngine[Any]) -> str:
    """Return the kind of values a column holds; ``other`` for types known by name only."""
    return next((name for kinds, name in _FAMILIES if isinstance(type, kinds)), "other")


def fitted(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo, parse: bool = False) -> pa.Array:
    """Return the values in the form of the column's family: numbers, text, naive or UTC timestamps, JSON text.

    ``parse`` also parses texts as decimals and times, as schemaless data has no other form for them. Raises Misfit.
    """
    family = family_of(column.type)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.string())
    form = _FORMS.get((_kind(array.type), family)) or (_PARSED.get(family) if parse and _is_text(array) else None)
    if form is None:
        reason = _REASONS.get((_kind(array.type), family), "")
        raise Misfit(
            f"field of type {_shown(schema)} does not fit column {column.name} of type {column.type!r}{reason}"
        )
    try:
        return _formed(form, array, (schema, column, timezone))
    except _REFUSED as error:
        raise _misfit(array, form, (schema, column, timezone)) from error


def shown_value(array: pa.Array, row: int) -> str:
    """Return one value for a message; a time that Python cannot represent as the number that it is stored as."""
    try:
        return str(array[row].as_py())
    except _REFUSED:
        value = array[row]
        return f"{value.value} ({array.type})" if hasattr(value, "value") else f"of type {array.type}"


Form = Callable[[pa.Array, Schema, Column, ZoneInfo], pa.Array]
"""Converts an array to a column's form; raises ArrowException for a value that does not fit."""


def _kind(type: pa.DataType) -> str:
    return next((name for is_kind, name in _KINDS if is_kind(type)), "nested")


def _is_text(array: pa.Array) -> bool:
    return bool(pa.types.is_string(array.type))


def _shown(schema: Schema) -> str:
    return schema.name or str(schema.type)


def _formed(form: Form, array: pa.Array, rest: tuple[Schema, Column, ZoneInfo]) -> pa.Array:
    """Return an array in a column's form. Raises what a form does, also for times that no driver accepts."""
    found = form(array, *rest)
    _check_years(found.flatten() if pa.types.is_list(found.type) else found)
    return found


def _check_years(array: pa.Array) -> None:
    """Raise ValueError for a date or time before year 1 or after 9999: neither drivers nor databases have them."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        first, last = (day * _UNITS_OF_DAY[kind.unit] for day in (_FIRST_DAY, _LAST_DAY + 1))
        numbers = array.view(pa.int64())
    elif pa.types.is_date32(kind):
        first, last, numbers = _FIRST_DAY, _LAST_DAY + 1, array.view(pa.int32())
    else:
        return
    found = pc.min_max(numbers).as_py()
    if found["min"] is not None and not (first <= found["min"] and found["max"] < last):
        raise ValueError("a year is not in 1..9999")


_UNITS_OF_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _LAST_DAY = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))


def _misfit(array: pa.Array, form: Form, rest: tuple[Schema, Column, ZoneInfo]) -> Misfit:
    """Return the refusal, with the first row that does not fit."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _formed(form, array.slice(low, middle - low), rest)
        except _REFUSED:
            high = middle
        else:
            low = middle
    column = rest[1]
    refusal = Misfit(f"value {shown_value(array, low)[:50]} does not fit column {column.name} of type {column.type!r}")
    refusal.row = low
    return refusal


def _same(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    return array


def _integer(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Cast to the column's width, so that a value too large is detected here."""
    if pa.types.is_boolean(array.type):
        return array.cast(pa.int8())
    bits = next((bits for kind, bits in _WIDTHS if isinstance(column.type, kind)), 64)
    sign = "u" if getattr(column.type, "unsigned", False) else ""
    return array.cast(pa.type_for_alias(f"{sign}int{bits}"))


_WIDTHS: tuple[tuple[type[TypeEngine[Any]], int], ...] = (
    (mysql.TINYINT, 8),
    (sa.SmallInteger, 16),
    (sa.BigInteger, 64),
)
"""``INTEGER`` is not listed: SQLite's has 64 bits, and other databases refuse too large values themselves."""


def _float(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Return floats; raise ValueError for an integer that the column would round."""
    if not pa.types.is_integer(array.type):
        return array
    kind = np.float32 if isinstance(column.type, sa.REAL | mysql.FLOAT) else np.float64
    exact = 1 << (np.finfo(kind).nmant + 1)
    found = pc.min_max(array).as_py()
    if found["min"] is not None and not (-exact <= found["min"] and found["max"] <= exact):
        numbers = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
        floats = numbers.astype(kind)
        # The largest integers become 2^63, which is no integer of 64 bits.
        is_kept = floats < 2.0**63
        is_kept[is_kept] = floats[is_kept].astype(np.int64) == numbers[is_kept]
        if not is_kept.all():
            raise ValueError("the column rounds integers of so many digits")
    return array.cast(pa.float64(), safe=False)


def _decimal(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Keep exact values, but refuse those that the column's scale would round."""
    scale = getattr(column.type, "scale", None)
    if pa.types.is_decimal(array.type) and scale is not None and scale < array.type.scale:
        return array.cast(_rescaled(array.type, scale))
    return array


def _rescaled(type: pa.DataType, scale: int) -> pa.DataType:
    wide = pa.types.is_decimal256(type)
    return pa.decimal256(type.precision, scale) if wide else pa.decimal128(type.precision, scale)


def _timestamp(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Return instants for a column with a time zone, else the wall clock of ``db.timezone``."""
    if getattr(column.type, "timezone", False) or isinstance(column.type, mysql.TIMESTAMP):
        return array
    if timezone.key == "UTC":
        return array.cast(pa.timestamp(array.type.unit))
    shown = to_wall_clock(array.cast(pa.timestamp("us", "UTC")).view(pa.int64()), timezone)
    return shown.view(pa.timestamp("us")).cast(pa.timestamp(array.type.unit))


def _day_start(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    return array.cast(pa.timestamp("ms"))


def _text(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    return array.cast(pa.string())


def _json(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    values = to_python(schema, array) if schema.type in _NESTED else array.to_pylist()
    return pa.array([None if value is None else json_text(value) for value in values], pa.string())


def json_text(value: Any) -> str:
    """Return a nested value as JSON. Raises ValueError for what JSON cannot represent."""
    try:
        return orjson.dumps(_plain(value), option=_JSON_OPTIONS).decode()
    except TypeError as error:
        raise ValueError(str(error)) from error


_NESTED = frozenset((SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT))
_JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS


def _plain(value: Any) -> Any:
    """Return a nested Connect value as JSON: instants as ISO 8601, decimals and bytes as text."""
    if isinstance(value, Struct):
        return {field.name: _plain(value.get(field.name)) for field in value.schema.fields}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return plain(value)
    return next((base(value) for base in (int, float) if isinstance(value, base)), value)


def _instant(value: Instant) -> str:
    return value.to_datetime().isoformat(timespec="milliseconds").replace("+00:00", "Z")


_PLAIN: dict[type, Callable[[Any], Any]] = {
    bool: bool,
    int: int,
    float: float,
    str: str,
    type(None): lambda value: None,
    bytes: bytes.hex,
    Decimal: str,
    Instant: _instant,
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
}


def _array(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Return lists of plain values unchanged; the dialect writes them."""
    if not pa.types.is_list(array.type) or pa.types.is_nested(array.type.value_type):
        raise ValueError("only lists of plain values are arrays")
    return array


def _parsed_array(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Parse JSON, which is the form of schemaless lists of several types."""
    lists = pa.array([None if text is None else orjson.loads(text) for text in array.to_pylist()])
    return lists if pa.types.is_null(lists.type) else _array(lists, schema, column, timezone)


def _parsed(type: pa.DataType) -> Form:
    return lambda array, schema, column, timezone: array.cast(type)


def _parsed_timestamp(array: pa.Array, schema: Schema, column: Column, timezone: ZoneInfo) -> pa.Array:
    """Parse ISO 8601: with a zone it is an instant, without one the column's wall clock."""
    if pc.any(pc.match_substring_regex(array, r"(Z|[+-]\d\d:?\d\d)$")).as_py():
        return _timestamp(array.cast(pa.timestamp("us", "UTC")), schema, column, timezone)
    naive = array.cast(pa.timestamp("us"))
    if not getattr(column.type, "timezone", False):
        return naive
    return from_wall_clock(naive.view(pa.int64()), timezone).view(pa.timestamp("us", "UTC"))


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "float"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (lambda kind: pa.types.is_string(kind) or pa.types.is_dictionary(kind), "text"),
    (pa.types.is_binary, "bytes"),
)
_FORMS: dict[tuple[str, str], Form] = {
    ("boolean", "boolean"): _same,
    ("boolean", "integer"): _integer,
    ("integer", "integer"): _integer,
    ("integer", "float"): _float,
    ("integer", "decimal"): _same,
    ("float", "float"): _float,
    ("float", "decimal"): _same,
    ("decimal", "decimal"): _decimal,
    ("decimal", "text"): _text,
    ("timestamp", "timestamp"): _timestamp,
    ("date", "date"): _same,
    ("date", "timestamp"): _day_start,
    ("time", "time"): _same,
    ("text", "text"): _text,
    ("text", "json"): _text,
    ("text", "other"): _text,
    ("bytes", "bytes"): _same,
    ("nested", "json"): _json,
    ("nested", "text"): _json,
    ("nested", "array"): _array,
}
"""By the values' kind and the column's family; other combinations do not fit."""

_REASONS = {
    ("float", "integer"): (
        "; auto.evolve makes no floating-point column of one whose integers it would round: alter the column manually, "
        "or cast the field with the transform Cast"
    )
}
"""Why a combination does not fit, where this is not obvious."""

_PARSED: dict[str, Form] = {
    "array": _parsed_array,
    "timestamp": _parsed_timestamp,
    "date": _parsed(pa.date32()),
    "time": _parsed(pa.time64("us")),
    "decimal": lambda array, schema, column, timezone: decimals_of(
        array, pa.decimal128(38, getattr(column.type, "scale", None) or 0)
    ),
}
