"""The forms of a timestamp, and conversions between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from connect_core.api.data import (
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Instant,
    Int64,
    Schema,
    SchemaType,
    Time,
    Timestamp,
)
from connect_core.errors import ConnectError, DataError, NullValueError
from connect_core.java.dates.format import SimpleDateFormat
from connect_core.java.numbers import wrap

__all__ = ["FORMS", "PRECISIONS", "Conversion", "form_of_schema", "schema_of_form"]

FORMS = ("string", "unix", "Date", "Time", "Timestamp")
PRECISIONS = ("nanoseconds", "microseconds", "milliseconds", "seconds")
MILLIS_PER_DAY = 86_400_000
_PER_MILLI = {"nanoseconds": 1_000_000, "microseconds": 1000, "milliseconds": 1}
_MAX_LONG = (1 << 63) - 1
_SCHEMAS = {
    "string": (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
    "unix": (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA),
    "Date": (Date.SCHEMA, Date.builder().optional().build()),
    "Time": (Time.SCHEMA, Time.builder().optional().build()),
    "Timestamp": (Timestamp.SCHEMA, Timestamp.builder().optional().build()),
}
_LOGICAL = {Timestamp.LOGICAL_NAME: "Timestamp", Date.LOGICAL_NAME: "Date", Time.LOGICAL_NAME: "Time"}


def schema_of_form(form: str, optional: bool) -> Schema:
    """Return the schema of timestamps in a form."""
    return _SCHEMAS[form][optional]


def form_of_schema(schema: Schema) -> str:
    """Return the form of a schema's values. Raise ConnectError if it has none."""
    form = _LOGICAL.get(schema.name or "")
    if form is None:
        form = {SchemaType.STRING: "string", SchemaType.INT64: "unix"}.get(schema.type)
    if form is None:
        raise ConnectError(f"Schema {schema} does not correspond to a known timestamp type format")
    return form


@dataclass(frozen=True, slots=True)
class Conversion:
    """The target form, and the interpretation of texts and Unix times."""

    target: str
    format: SimpleDateFormat | None
    precision: str

    def convert(self, value: Any, form: str | None = None) -> Any:
        """Return a timestamp in the target form; without ``form``, the class of the value determines its form."""
        if value is None:
            return None
        return self._write(self._read(value, form or _form_of_value(value)))

    def to_millis(self, unix: int) -> int:
        """Return a Unix time in milliseconds, truncated toward zero, limited to 64 bits."""
        if self.precision == "seconds":
            return _clamped(unix * 1000)
        return _truncated(unix, _PER_MILLI[self.precision])

    def from_millis(self, millis: int) -> int:
        """Return milliseconds as a Unix time, truncated toward zero, limited to 64 bits."""
        if self.precision == "seconds":
            return _truncated(millis, 1000)
        return _clamped(millis * _PER_MILLI[self.precision])

    def _read(self, value: Any, form: str) -> Instant:
        if form == "string":
            return self._parse(_of_class(value, str, "Expected string timestamp to be a String"))
        if form == "unix":
            if type(value) not in (int, Int64):
                raise DataError(f"Expected Unix timestamp to be a Long, but found class {type(value).__name__}")
            return Instant(self.to_millis(value))
        found: Instant = _of_class(value, Instant, f"Expected {form} to be a java.util.Date")
        return found

    def _parse(self, text: str) -> Instant:
        if self.format is None:
            raise NullValueError("a string cannot be parsed as a timestamp: set the transform's 'format'")
        found = self.format.parse(text)
        if found is None:
            raise DataError(f"Could not parse timestamp: value ({text}) does not match pattern ({self.format.pattern})")
        return found

    def _write(self, instant: Instant) -> Any:
        if self.target == "Timestamp":
            return instant
        millis = instant.epoch_millis
        if self.target == "unix":
            return self.from_millis(millis)
        if self.target == "Date":
            return Instant(wrap(millis - millis % MILLIS_PER_DAY, 64))
        if self.target == "Time":
            return Instant(millis % MILLIS_PER_DAY)
        if self.format is None:
            raise NullValueError("a timestamp cannot be written as a string: set the transform's 'format'")
        return self.format.format(instant)


def _form_of_value(value: Any) -> str:
    if isinstance(value, Instant):
        return "Timestamp"
    if type(value) in (int, Int64):
        return "unix"
    if isinstance(value, str):
        return "string"
    raise DataError(f"TimestampConverter does not support class {type(value).__name__} objects as timestamps")


def _of_class(value: Any, kind: type, expectation: str) -> Any:
    if isinstance(value, kind):
        return value
    raise DataError(f"{expectation}, but found class {type(value).__name__}")


def _clamped(value: int) -> int:
    return max(-_MAX_LONG - 1, min(_MAX_LONG, value))


def _truncated(value: int, unit: int) -> int:
    return value // unit if value >= 0 else -(-value // unit)
