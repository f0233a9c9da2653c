"""The time that determines a record's folder."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns, Data
from connect_core.api.data import Instant
from connect_core.connectors.filesystem.partitioners.value_fields import field_values
from connect_core.errors import DataError

__all__ = ["EXTRACTORS", "Extractor", "of_record", "of_record_field", "of_wallclock"]

Extractor = Callable[[Batch, str], pa.Array]
"""Takes records and the field's name → milliseconds since 1970 as int64, null for a null record. Raises DataError."""

_DAY_MILLIS = 86_400_000
_LARGEST = 2**63
_ISO = re.compile(r"[\dW-]{7,10}(?:[Tt ].*)?\Z")
"""A date, and a time after a separator: Python takes any character for one, even a digit."""


def of_wallclock(batch: Batch, field: str) -> pa.Array:
    """Return the current time."""
    return pa.array([int(time.time() * 1000)] * len(batch), pa.int64())


def of_record(batch: Batch, field: str) -> pa.Array:
    """Return the records' own timestamps."""
    if batch.timestamp.null_count:
        raise DataError("the record has no timestamp to name its folder; use timestamp.extractor=RecordField")
    return batch.timestamp


def of_record_field(batch: Batch, field: str) -> pa.Array:
    """Return the times in a field: milliseconds, a timestamp, or ISO 8601 text (UTC unless it has a zone)."""
    values = field_values(batch.value, field)
    found = _of_array(values, field) if isinstance(values, pa.Array) else None
    if found is None:
        found = pa.array([_millis(value, field) for value in values], pa.int64())
    if found.null_count != _null_count(batch.value):
        raise DataError(f"field {field} is null, so the record has no time that determines its folder")
    return found


EXTRACTORS: Mapping[str, Extractor] = {"Wallclock": of_wallclock, "Record": of_record, "RecordField": of_record_field}


def _null_count(data: Data) -> int:
    if isinstance(data, Columns):
        return int(data.array.null_count)
    return sum(value is None for value in data.values)


def _of_array(values: pa.Array, field: str) -> pa.Array | None:
    """Return a column of times or integers as milliseconds, ``None`` for texts and other types."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return values.cast(pa.int64())
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("ms", kind.tz), safe=False).cast(pa.int64())
    if pa.types.is_date32(kind):
        return pc.multiply(values.cast(pa.int32()).cast(pa.int64()), _DAY_MILLIS)
    return None


def _millis(value: Any, field: str) -> int | None:
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if value is None:
        return None
    if isinstance(value, Instant):
        return value.epoch_millis
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return _whole(value, field)
    if isinstance(value, str):
        return _parsed(value, field)
    if isinstance(value, datetime | date):
        return _parsed(value.isoformat(), field)
    raise DataError(
        f"field {field} is a {type(value).__name__} and not a time: use milliseconds, a timestamp or an ISO 8601 string"
    )


def _whole(value: float, field: str) -> int:
    if not -_LARGEST <= value < _LARGEST:
        raise DataError(f"field {field} holds {value}, which is beyond 64 bits: send milliseconds since 1970")
    return math.floor(value)


def _parsed(text: str, field: str) -> int:
    try:
        moment = datetime.fromisoformat(text) if _ISO.match(text) else None
    except ValueError:
        moment = None
    if moment is None:
        hint = "; send milliseconds as a number" if text.isdigit() else ""
        raise DataError(f"field {field} holds {text!r}, which is not an ISO 8601 date or time{hint}")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    delta = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000
