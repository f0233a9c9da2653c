"""Reads Avro container files."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa

from connect_core.api.batch import Data
from connect_core.api.config import AbstractConfig
from connect_core.api.libraries import library
from connect_core.connectors.filesystem.columns import Kind
from connect_core.connectors.filesystem.formats.maps import formed, maps_to_pairs
from connect_core.connectors.filesystem.formats.reading import FormatReader, Span, connect_columns
from connect_core.errors import ConfigError, DataError, MissingLibraryError

__all__ = ["AvroReader", "Known", "arrow_type"]

_ROWS = 10_000
_MARKER = 16
"""Length of the synchronization marker, which is random and the same at the end of the header and of each block."""
_SEARCHED = 1024 * 1024
_SCALARS: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
    "fixed": pa.binary(),
}
_LOGICAL: dict[tuple[str, str], pa.DataType] = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "local-timestamp-micros"): pa.timestamp("us", "UTC"),
    ("string", "uuid"): pa.string(),
}
"""By type and logical type; Arrow takes the values as they are stored."""
_DECIMALS = [("bytes", "decimal"), ("fixed", "decimal")]
_SMALL, _LARGE = 38, 76
"""Digits of Arrow's decimals."""
_BROKEN = (ValueError, EOFError, LookupError, TypeError, OverflowError, zlib.error, lzma.LZMAError)
"""What fastavro and its codecs raise for bytes that are not as they were written."""

Known: TypeAlias = dict[str, pa.DataType | None]
"""Named types; None while the type is being read."""


class AvroReader(FormatReader):
    """Structs of the records' fields; values that are not records are returned as they are.

    A block belongs to the span that contains its first byte.
    """

    is_split = True

    def setup(self, settings: AbstractConfig) -> None:
        """Check that the library is installed. Raises ConfigError."""
        try:
            library("fastavro", "avro")
        except MissingLibraryError as error:
            raise ConfigError("format", "avro", str(error)) from error

    def read(self, file: BinaryIO, name: str, span: Span, skip: int) -> Iterator[Data]:
        """Return blocks of 10,000 records; blocks of the file that are skipped completely are not decoded."""
        avro = library("fastavro", "avro")
        try:
            blocks = avro.block_reader(file)
        except (*_BROKEN, avro.schema.SchemaParseException, avro.schema.UnknownType) as error:
            raise DataError(f"{name} is not an Avro file: {error}; replace or remove it") from error
        if _at_first_block(file, span):
            yield from _rows(_records(blocks, span[1], skip), blocks.writer_schema, name)


def _at_first_block(file: BinaryIO, span: Span) -> bool:
    """Seek from the end of the header to the first block of a span; return whether there may be one."""
    first = file.tell()
    if span[0] <= first:
        return first < span[1]
    file.seek(first - _MARKER)
    marker = file.read(_MARKER)
    # A block begins behind the marker that ends the one before.
    place = span[0] - _MARKER
    file.seek(place)
    rest = b""
    while place < span[1] and (data := file.read(_SEARCHED)):
        found = (rest + data).find(marker)
        if found >= 0:
            file.seek(place - len(rest) + found + _MARKER)
            return True
        place += len(data)
        rest = (rest + data)[1 - _MARKER :]
    return False


def _records(blocks: Iterator[Any], end: int, skip: int) -> Iterator[Any]:
    for block in blocks:
        if block.offset >= end:
            return
        if skip >= block.num_records:
            skip -= block.num_records
            continue
        yield from islice(block, skip, None)
        skip = 0


def _rows(records: Iterator[Any], schema: Any, name: str) -> Iterator[Data]:
    kind = arrow_type(schema, name, {})
    form = maps_to_pairs(_shape(kind))
    _leave_stored(schema)
    while True:
        try:
            some = list(islice(records, _ROWS))
        except (*_BROKEN, OSError) as error:
            raise DataError(f"{name} is corrupt: {error}; replace or remove it") from error
        if not some:
            return
        array = _array(formed(some, form), kind, name)
        try:
            yield connect_columns(array, _is_optional(schema))
        except DataError as error:
            raise DataError(f"{name}: {error}") from error


def _leave_stored(schema: Any) -> None:
    """Make fastavro return dates, times and UUIDs as they are stored: Python's own end with the year 9999."""
    if isinstance(schema, list):
        for one in schema:
            _leave_stored(one)
    elif isinstance(schema, dict):
        if _logical(schema) in _LOGICAL:
            del schema["logicalType"]
        parts = [schema.get("type"), schema.get("items"), schema.get("values"), schema.get("fields")]
        _leave_stored(parts)


def _array(rows: list[Any], kind: pa.DataType, name: str) -> pa.Array:
    try:
        return pa.array(rows, kind)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        where = f" in field {_failing(rows, kind)}" if pa.types.is_struct(kind) else ""
        raise DataError(
            f"{name} contains a value that does not match its schema{where}: {error}; correct or remove the file"
        ) from error


def _failing(rows: list[Any], kind: pa.StructType) -> str:
    """Return the name of the first field with a value that Arrow refuses."""
    for field in kind.fields:
        try:
            pa.array([row[field.name] for row in rows], field.type)
        except (pa.ArrowException, OverflowError, TypeError):
            break
    return str(field.name)


def arrow_type(schema: Any, file: str, known: Known) -> pa.DataType:
    """Return the Arrow type of an Avro schema. Raises DataError for a union of several, and for recursive types."""
    if isinstance(schema, list):
        return _of_union(schema, file, known)
    if isinstance(schema, str):
        return _of_name(schema, file, known)
    found = _of_logical(schema)
    if found is None:
        found = _of_map(schema, file, known)
    if "name" in schema:
        known[schema["name"]] = found
    return found


def _logical(schema: Any) -> tuple[Any, Any] | None:
    kind, logical = schema.get("type"), schema.get("logicalType")
    return (kind, logical) if isinstance(kind, str) and isinstance(logical, str) else None


def _of_logical(schema: Any) -> pa.DataType | None:
    logical = _logical(schema)
    if logical not in _DECIMALS:
        return None if logical is None else _LOGICAL.get(logical)
    scale = schema.get("scale", 0)
    if max(schema.get("precision", 0), scale) <= _SMALL:
        return pa.decimal128(_SMALL, scale)
    return pa.decimal256(_LARGE, min(scale, _LARGE))


def _of_name(name: str, file: str, known: Known) -> pa.DataType:
    if name not in known:
        return _SCALARS[name]
    found = known[name]
    if found is None:
        raise DataError(
            f"{file} has the type {name}, which contains itself: recursive types are not supported; write the file "
            "without them"
        )
    return found


def _of_map(schema: Any, file: str, known: Known) -> pa.DataType:
    kind = schema["type"]
    if kind == "array":
        return pa.list_(arrow_type(schema["items"], file, known))
    if kind == "map":
        return pa.map_(pa.string(), arrow_type(schema["values"], file, known))
    if kind in ("record", "error"):
        return _of_record(schema, file, known)
    return arrow_type(kind, file, known)


def _of_union(schema: list[Any], file: str, known: Known) -> pa.DataType:
    some = [one for one in schema if one != "null"]
    if len(some) > 1:
        raise DataError(f"{file} has a union of several types, for which Connect has no schema; write it with one type")
    return arrow_type(some[0], file, known) if some else pa.null()


def _of_record(schema: Any, file: str, known: Known) -> pa.DataType:
    known[schema["name"]] = None
    fields = []
    for field in schema["fields"]:
        kind = arrow_type(field["type"], file, known)
        fields.append(pa.field(field["name"], kind, nullable=_is_optional(field["type"])))
    return pa.struct(fields)


def _is_optional(schema: Any) -> bool:
    return schema == "null" or (isinstance(schema, list) and "null" in schema)


def _shape(kind: pa.DataType) -> Kind:
    """Return where a type has maps; all scalars are treated as equal."""
    if pa.types.is_struct(kind):
        return "struct", tuple((field.name, _shape(field.type)) for field in kind.fields)
    if pa.types.is_list(kind):
        return "list", _shape(kind.value_type)
    if pa.types.is_map(kind):
        return "map", "string", _shape(kind.item_type)
    return "string"
