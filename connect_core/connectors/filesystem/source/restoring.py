"""Converts rows that FileSystemSink wrote with keys, headers and places back to records."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.data import OPTIONAL_BYTES_SCHEMA, STRING_SCHEMA
from connect_core.api.headers import Headers
from connect_core.connectors.filesystem.formats.reading import connect_columns, has_only_nulls
from connect_core.connectors.filesystem.rows import VALUE
from connect_core.errors import DataError

__all__ = ["Restored", "Restoring"]

_KEY, _TOPIC, _PARTITION, _OFFSET, _TIMESTAMP, _HEADERS = (
    "_key",
    "_topic",
    "_partition",
    "_offset",
    "_timestamp",
    "_headers",
)
_PLACE = (_TOPIC, _PARTITION, _OFFSET, _TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Restored:
    """Parts of some records. ``topic`` (string), ``partition`` (int32), ``timestamp`` (int64): none if not stored."""

    value: Data
    key: Data
    topic: pa.Array | None = None
    partition: pa.Array | None = None
    timestamp: pa.Array | None = None
    headers: tuple[Headers, ...] | None = None


@dataclass(frozen=True, slots=True)
class Restoring:
    """Which columns become something other than fields of the value."""

    key: bool = False
    metadata: bool = False
    headers: bool = False
    header_bytes: bool = False
    unwrap: bool = False

    def restored(self, data: Data) -> Restored:
        """Return the parts of records. Raises DataError if a configured column is missing or of another type."""
        if not (self.key or self.metadata or self.headers or self.unwrap):
            return Restored(data, Columns(None, pa.nulls(len(data))))
        return self._of_columns(data) if isinstance(data, Columns) else self._of_maps(data)

    @property
    def _taken(self) -> tuple[str, ...]:
        wanted = ((self.key, (_KEY,)), (self.metadata, _PLACE), (self.headers, (_HEADERS,)))
        return tuple(name for is_wanted, names in wanted if is_wanted for name in names)

    def _is_taken(self, name: str) -> bool:
        """Return whether a column is not a field of the value."""
        return name in self._taken or (self.unwrap and name == VALUE)

    def _of_columns(self, data: Columns) -> Restored:
        array = data.array
        if not pa.types.is_struct(array.type):
            raise DataError("rows have no columns: include.key, include.metadata and include.headers need them")
        columns = {
            field.name: pa.nulls(len(array)) if self._is_taken(field.name) and has_only_nulls(field) else column
            for field, column in zip(array.type.fields, array.flatten(), strict=True)
        }
        taken = self._checked(columns)
        rest = {name: column for name, column in columns.items() if name not in taken}
        nothing = Columns(None, pa.nulls(len(array)))
        headers = taken.get(_HEADERS)
        return Restored(
            value=self._value(rest, array),
            key=connect_columns(taken[_KEY], nullable=True) if self.key else nothing,
            topic=_cast(taken[_TOPIC], pa.string(), _TOPIC) if self.metadata else None,
            partition=_cast(taken[_PARTITION], pa.int32(), _PARTITION) if self.metadata else None,
            timestamp=_millis_of(taken[_TIMESTAMP]) if self.metadata else None,
            headers=None if headers is None else tuple(self._headers(one) for one in headers.to_pylist()),
        )

    def _checked(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in self._taken if name not in columns]
        if missing:
            raise DataError(f"rows have no column {missing[0]}; set the include setting that needs it to false")
        return {name: columns[name] for name in self._taken}

    def _value(self, rest: Mapping[str, pa.Array], array: pa.StructArray) -> Columns:
        if not self.unwrap:
            fields = [array.type.field(name).with_name(name) for name in rest]
            return connect_columns(pa.StructArray.from_arrays(list(rest.values()), fields=fields))
        if not set(rest) <= {VALUE}:
            names = ", ".join(name for name in rest if name != VALUE)
            raise DataError(f"rows have columns besides value: {names}; set unwrap.value=false")
        # If all values of a file are null, it has no column for them.
        column = rest.get(VALUE)
        if column is None or pa.types.is_null(column.type):
            return Columns(OPTIONAL_BYTES_SCHEMA, pa.nulls(len(array), pa.binary()))
        return connect_columns(column, nullable=True)

    def _of_maps(self, data: Objects) -> Restored:
        parts = [self._checked(_map(value)) for value in data.values]
        values = [self._bare({k: v for k, v in value.items() if k not in self._taken}) for value in data.values]
        none = [None] * len(values)
        return Restored(
            value=Objects(none, values),
            key=Objects(none, [part[_KEY] for part in parts] if self.key else none),
            topic=_array((part[_TOPIC] for part in parts), pa.string(), _TOPIC) if self.metadata else None,
            partition=_array((part[_PARTITION] for part in parts), pa.int32(), _PARTITION) if self.metadata else None,
            timestamp=_times(part[_TIMESTAMP] for part in parts) if self.metadata else None,
            headers=tuple(self._headers(part[_HEADERS]) for part in parts) if self.headers else None,
        )

    def _bare(self, value: dict[str, Any]) -> Any:
        return value.get(VALUE) if self.unwrap else value

    def _headers(self, given: Any) -> Headers:
        headers = Headers()
        for name, value in _pairs(given):
            if self.header_bytes:
                headers.add(name, _decoded(value), OPTIONAL_BYTES_SCHEMA)
            else:
                headers.add(name, value, None if value is None else STRING_SCHEMA)
        return headers


def _pairs(given: Any) -> list[tuple[str, str | None]]:
    """Return the names and values in a value of the column _headers, which is text in CSV files."""
    if not given:
        return []
    try:
        pairs = [(one["name"], one["value"]) for one in (json.loads(given) if isinstance(given, str) else given)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(_no_headers(given)) from error
    if not all(isinstance(name, str) and (value is None or isinstance(value, str)) for name, value in pairs):
        raise DataError(_no_headers(given))
    return pairs


def _no_headers(given: Any) -> str:
    return (
        f"_headers is {str(given)[:80]!r}, which is not a list of objects with name and value, both texts; correct the "
        "file, or set include.headers=false"
    )


def _map(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError("a line is not a JSON object: include.key, include.metadata and include.headers need one")
    return value


def _cast(column: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise DataError(_no_place(name, kind, error)) from error


def _array(values: Iterable[Any], kind: pa.DataType, name: str) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(_no_place(name, kind, error)) from error


def _no_place(name: str, kind: pa.DataType, error: Exception) -> str:
    return f"{name} has a value that is not {kind}: {error}; correct the file, or set include.metadata=false"


def _millis_of(array: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp("ms", array.type.tz)).cast(pa.int64())
    if pa.types.is_string(array.type):
        return _times(array.to_pylist())
    return _cast(array, pa.int64(), _TIMESTAMP)


def _times(values: Iterable[Any]) -> pa.Array:
    return _array([_millis(value) for value in values], pa.int64(), _TIMESTAMP)


def _millis(value: Any) -> int | None:
    """Return a number or an ISO 8601 text as milliseconds since 1970."""
    if value is None or isinstance(value, int):
        return value
    try:
        return round(datetime.fromisoformat(str(value)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"_timestamp is {value!r}, which is not an ISO 8601 time; correct the file, or set include.metadata=false"
        ) from error


def _decoded(value: str | None) -> bytes | None:
    try:
        return None if value is None else base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise DataError("a header's value is not base64; set headers.in.base64=false") from error
