"""Keys and values as columns to store, from records and batches alike."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns
from connect_core.api.data import Float32, Float64, Instant, Int8, Int16, Int32, Int64
from connect_core.connectors.filesystem.casting import cast_array
from connect_core.connectors.filesystem.columns import (
    ColumnKinds,
    Kind,
    kind_of_array,
    kind_of_type,
    merge_columns,
    merge_kinds,
    to_type,
)
from connect_core.errors import DataError

__all__ = ["VALUE", "Rows", "columns_of_values", "kind_of_column", "rows_of_array", "rows_of_maps"]

VALUE = "value"
"""The column of values that are neither maps nor structs."""

_MOST_DIGITS = 38
_REFUSALS = (pa.ArrowException, OverflowError, UnicodeEncodeError)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to store: columns of one length with their kinds; a null row is null in all."""

    columns: ColumnKinds
    arrays: tuple[pa.Array, ...]
    length: int
    is_schemaless: bool | None
    """``None`` if all values are null: such rows may be in a file of either."""

    def cast(self, columns: ColumnKinds) -> list[pa.Array]:
        """Return the arrays of the given columns, nulls where these rows have none. Raises DataError."""
        present = {name: array for (name, _), array in zip(self.columns, self.arrays, strict=True)}
        cast = []
        for name, kind in columns:
            with _naming(name):
                array = present.get(name)
                cast.append(pa.nulls(self.length, to_type(kind)) if array is None else cast_array(array, kind))
        return cast

    def fitted(self, columns: ColumnKinds) -> Rows:
        """Return the rows with their columns cast to the given kinds. Raises DataError."""
        kinds = dict(columns)
        mine = tuple((name, kinds[name]) for name, _ in self.columns)
        return self if mine == self.columns else Rows(mine, tuple(self.cast(mine)), self.length, self.is_schemaless)

    def take(self, rows: pa.Array) -> Rows:
        """Return the given rows (int64 indices), in that order."""
        return Rows(self.columns, tuple(array.take(rows) for array in self.arrays), len(rows), self.is_schemaless)

    def slice(self, first: int, count: int | None = None) -> Rows:
        """Return the rows from ``first`` on, at most ``count``."""
        length = max(0, self.length - first) if count is None else min(count, self.length - first)
        if length == self.length:
            return self
        arrays = tuple(array.slice(first, length) for array in self.arrays)
        return Rows(self.columns, arrays, length, self.is_schemaless)

    def with_column(self, name: str, kind: Kind, array: pa.Array) -> Rows:
        """Return the rows with one more column. Raises DataError if there is one of that name."""
        if name in dict(self.columns):
            raise DataError(f"field {name} of the value has the name of a column requested by include.key or .metadata")
        return Rows((*self.columns, (name, kind)), (*self.arrays, array), self.length, self.is_schemaless)


def rows_of_array(data: Columns) -> Rows:
    """Return the rows of a column of values: structs and maps by field, others as ``value``."""
    array, is_schemaless = data.array, data.schema is None
    if is_schemaless and array.null_count == len(array):
        return Rows((), (), len(array), None)
    if pa.types.is_struct(array.type):
        arrays = tuple(array.flatten())
        kinds = [_kind_of(part, is_schemaless) for part in arrays]
        return Rows(_named(array.type.names, kinds), arrays, len(array), is_schemaless)
    return Rows(((VALUE, kind_of_column(data)),), (array,), len(array), is_schemaless)


def kind_of_column(data: Columns) -> Kind:
    """Return the declared kind of a column, or that of its values if there is no schema."""
    return _kind_of(data.array, data.schema is None)


def rows_of_maps(values: Sequence[Any], columns: ColumnKinds) -> Rows:
    """Return the rows of schemaless values in columns that can hold them. Raises DataError."""
    maps = [value if isinstance(value, dict) else _wrapped(value) for value in values]
    arrays = []
    for name, kind in columns:
        with _naming(name):
            column = [value.get(name) for value in maps]
            arrays.append(pa.array(column if kind in _PLAIN else map(_plain, column), to_type(kind)))
    return Rows(columns, tuple(arrays), len(values), None if all(value is None for value in values) else True)


def columns_of_values(values: Iterable[Any]) -> ColumnKinds:
    """Return the columns that can hold all of these schemaless values. Raises DataError."""
    seen: set[object] = set()
    found: ColumnKinds = ()
    for value in values:
        # Maps with the same keys and scalar types are examined only once.
        types = tuple(map(type, value.values())) if type(value) is dict else (dict,)
        signature = (tuple(value), types) if _SCALARS.keys() >= set(types) else None
        if signature is None or signature not in seen:
            found = merge_columns(found, _columns_of_value(value))
            seen.add(signature)
    return found


def _columns_of_value(value: Any) -> ColumnKinds:
    if isinstance(value, dict):
        return tuple((_name(name), _kind(part, name)) for name, part in value.items())
    return () if value is None else ((VALUE, _kind(value, VALUE)),)


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """Translate Arrow's error for a value that its type cannot hold into a DataError naming the field."""
    try:
        yield
    except _REFUSALS as error:
        raise DataError(f"field {field} has a value that its column cannot hold: {error}") from error


def _kind_of(array: pa.Array, is_schemaless: bool) -> Kind:
    return kind_of_array(array) if is_schemaless else kind_of_type(array.type)


def _named(names: Iterable[str], kinds: Iterable[Kind]) -> ColumnKinds:
    columns = tuple(zip(names, kinds, strict=True))
    if len(dict(columns)) != len(columns):
        raise DataError("two fields have the same name")
    return columns


def _wrapped(value: Any) -> dict[str, Any]:
    return {} if value is None else {VALUE: value}


def _kind(value: Any, field: str) -> Kind:
    kind = _SCALARS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, dict):
        return "struct", tuple((_name(name), _kind(part, f"{field}.{name}")) for name, part in value.items())
    if isinstance(value, list):
        common: Kind = "null"
        for part in value:
            common = merge_kinds(common, _kind(part, f"{field}[]"), f"{field}[]")
        return "list", common
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return _decimal(value, field)
    raise DataError(f"field {field} holds a {type(value).__name__}, for which there is no column")


def _decimal(value: decimal.Decimal, field: str) -> Kind:
    scale = max(0, -int(value.as_tuple().exponent))
    if scale > _MOST_DIGITS:
        raise DataError(f"field {field} holds {value}, which has more than {_MOST_DIGITS} fraction digits")
    return f"decimal128({_MOST_DIGITS}, {scale})"


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise DataError(f"a map's key {name!r} is not a string and cannot name a column")
    return name


def _plain(value: Any) -> Any:
    """Return a value in a form that pyarrow accepts."""
    form = _FORMS.get(type(value))
    return value if form is None else form(value)


_SCALARS: dict[type, Kind] = {
    type(None): "null",
    bool: "bool",
    Int8: "int8",
    Int16: "int16",
    Int32: "int32",
    Int64: "int64",
    int: "int64",
    Float32: "float",
    Float64: "double",
    float: "double",
    str: "string",
    bytes: "binary",
    memoryview: "binary",
    Instant: str(pa.timestamp("ms", "UTC")),
}
_PLAIN = frozenset(_SCALARS.values()) - {_SCALARS[Instant], _SCALARS[memoryview]}
_FORMS: dict[type, Callable[[Any], Any]] = {
    memoryview: bytes,
    Instant: lambda value: value.epoch_millis,
    list: lambda value: [_plain(part) for part in value],
    dict: lambda value: {name: _plain(part) for name, part in value.items()},
}
