"""Batches as rows to store: the value, and optionally the key and place of a record."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.types import decimal_scale
from connect_core.api.batch import Batch, Columns, Data, Objects
from connect_core.api.data import Decimal, Schema, SchemaType, to_text
from connect_core.connectors.filesystem.columns import Kind, check_levels, to_type
from connect_core.connectors.filesystem.rows import Rows, columns_of_values, kind_of_column, rows_of_array, rows_of_maps
from connect_core.errors import DataError

__all__ = ["Extras", "extra_columns", "plain_columns", "rows_of_batch", "uniform"]

_KEY = "_key"
_LARGEST_SCALE = 76
_HEADERS = "_headers"
_HEADERS_KIND: Kind = ("list", ("struct", (("name", "string"), ("value", "string"))))


@dataclass(frozen=True, slots=True)
class Extras:
    """What is stored in addition to the value."""

    key: bool = False
    metadata: bool = False
    headers: bool = False


def uniform(batch: Batch) -> Iterator[Batch]:
    """Return the batch, split wherever the schema of key or value changes."""
    if isinstance(batch.key, Columns) and isinstance(batch.value, Columns):
        yield batch
        return
    count = len(batch)
    keys = batch.key.schemas if isinstance(batch.key, Objects) else [None] * count
    values = batch.value.schemas if isinstance(batch.value, Objects) else [None] * count
    begin = 0
    for _, run in groupby(zip(keys, values, strict=True)):
        end = begin + len(list(run))
        yield batch if end - begin == count else batch.take(pa.array(range(begin, end), pa.int64()))
        begin = end


def rows_of_batch(batch: Batch, extras: Extras) -> Rows:
    """Return the rows of a uniform batch. Raises DataError."""
    try:
        return _checked_rows(batch, extras)
    except RecursionError as error:
        raise DataError("the record is nested too deeply for columns") from error
    except UnicodeEncodeError as error:
        raise DataError(f"a text of key or headers has half a character (a surrogate): {error}") from error


def _checked_rows(batch: Batch, extras: Extras) -> Rows:
    data = batch.value
    rows = _of_maps(data) if _is_schemaless(data) else rows_of_array(plain_columns(data))
    for name, kind, array in extra_columns(batch, extras):
        rows = rows.with_column(name, kind, array)
    check_levels(rows.columns)
    return rows


def extra_columns(batch: Batch, extras: Extras) -> list[tuple[str, Kind, pa.Array]]:
    """Return what is stored in addition to the value, as columns. Raises DataError."""
    found = [(_KEY, *_key_column(batch.key))] if extras.key else []
    if extras.metadata:
        topic, partition = batch.original or (batch.topic, batch.partition)
        places = (
            ("_topic", topic.cast(pa.string())),
            ("_partition", partition),
            ("_offset", batch.offset),
            ("_timestamp", batch.timestamp.cast(pa.timestamp("ms", "UTC"))),
        )
        found += [(name, str(array.type), array) for name, array in places]
    if extras.headers:
        found.append((_HEADERS, _HEADERS_KIND, _headers_column(batch)))
    return found


def plain_columns(data: Data) -> Columns:
    """Return keys or values of one schema as a column. Raises DataError if one does not fit."""
    columns = data.to_columns()
    if columns is None:
        raise DataError("a value or key does not fit a column of its schema's type")
    if columns.schema is not None:
        _check_scales(columns.schema)
    return columns


@lru_cache(maxsize=4096)
def _check_scales(schema: Schema, field: str = "") -> None:
    """Raise DataError for a Decimal of a scale that no column has: as bytes it would be a wrong number."""
    if schema.name == Decimal.LOGICAL_NAME:
        scale = decimal_scale(schema)
        if scale is None or not 0 <= scale <= _LARGEST_SCALE:
            where = f"field {field}" if field else "the value or key"
            raise DataError(f"{where} is a Decimal of scale {scale}; columns have scales from 0 to {_LARGEST_SCALE}")
    for name, part in _parts(schema):
        _check_scales(part, f"{field}.{name}".removeprefix("."))


def _parts(schema: Schema) -> list[tuple[str, Schema]]:
    if schema.type is SchemaType.STRUCT:
        return [(field.name, field.schema) for field in schema.fields]
    parts = [("key", schema.key_schema)] if schema.type is SchemaType.MAP else []
    if schema.type in (SchemaType.MAP, SchemaType.ARRAY):
        parts.append(("[]", schema.value_schema))
    return [(name, part) for name, part in parts if part is not None]


def _is_schemaless(data: Data) -> bool:
    return isinstance(data, Objects) and data.schemas[0] is None


def _of_maps(data: Data) -> Rows:
    values = data.to_objects().values
    return rows_of_maps(values, columns_of_values(values))


def _key_column(data: Data) -> tuple[Kind, pa.Array]:
    """Return the keys as one column, whatever their type."""
    if not _is_schemaless(data):
        columns = plain_columns(data)
        return kind_of_column(columns), columns.array
    objects = data.to_objects()
    rows = _of_maps(Objects(objects.schemas, [{_KEY: key} for key in objects.values]))
    return rows.columns[0][1], rows.arrays[0]


def _headers_column(batch: Batch) -> pa.Array:
    """Return each record's headers in order: a name may occur several times."""
    given = batch.headers or [()] * len(batch)
    rows = [[{"name": header.key, "value": _header_text(header.value)} for header in one] for one in given]
    return pa.array(rows, to_type(_HEADERS_KIND))


def _header_text(value: Any) -> str | None:
    """Return a header's value as text: bytes in base64, numbers and booleans as Connect writes them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    return to_text(value)
