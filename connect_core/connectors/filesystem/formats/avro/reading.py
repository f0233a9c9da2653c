"""Reads Avro container files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa

from connect_core.api.batch import Data
from connect_core.api.config import AbstractConfig
from connect_core.api.libraries import library
from connect_core.connectors.filesystem.columns import Kind
from connect_core.connectors.filesystem.formats.maps import formed, maps_to_pairs
from connect_core.connectors.filesystem.formats.reading import FormatReader, Span, connect_columns
from connect_core.errors import ConfigError, DataError, MissingLibraryError

__all__ = ["AvroReader", "arrow_type"]

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
_LOGICAL: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "uuid": pa.string(),
}


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
        try:
            blocks = library("fastavro", "avro").block_reader(file)
        except (ValueError, EOFError, KeyError, TypeError) as error:
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
    while True:
        try:
            some = list(islice(records, _ROWS))
        except (ValueError, EOFError, IndexError, OSError) as error:
            raise DataError(f"{name} is corrupt: {error}; replace or remove it") from error
        if not some:
            return
        try:
            yield connect_columns(pa.array(formed(some, form), kind), _is_optional(schema))
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise DataError(f"{name} contains a value that does not match its schema: {error}") from error


def arrow_type(schema: Any, file: str, known: dict[str, pa.DataType]) -> pa.DataType:
    """Return the Arrow type of an Avro schema; ``known`` are named types. Raises DataError for a union of several."""
    if isinstance(schema, list):
        return _of_union(schema, file, known)
    if isinstance(schema, str):
        return known[schema] if schema in known else _SCALARS[schema]
    if schema.get("logicalType") == "decimal":
        return pa.decimal128(38, schema.get("scale", 0))
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    return _of_map(schema, file, known)


def _of_map(schema: Any, file: str, known: dict[str, pa.DataType]) -> pa.DataType:
    kind = schema["type"]
    if kind == "array":
        return pa.list_(arrow_type(schema["items"], file, known))
    if kind == "map":
        return pa.map_(pa.string(), arrow_type(schema["values"], file, known))
    if kind in ("record", "error"):
        return _of_record(schema, file, known)
    found = arrow_type(kind, file, known)
    if "name" in schema:
        known[schema["name"]] = found
    return found


def _of_union(schema: list[Any], file: str, known: dict[str, pa.DataType]) -> pa.DataType:
    some = [one for one in schema if one != "null"]
    if len(some) > 1:
        raise DataError(f"{file} has a union of several types, for which Connect has no schema; write it with one type")
    return arrow_type(some[0], file, known) if some else pa.null()


def _of_record(schema: Any, file: str, known: dict[str, pa.DataType]) -> pa.DataType:
    fields = []
    for field in schema["fields"]:
        kind = arrow_type(field["type"], file, known)
        fields.append(pa.field(field["name"], kind, nullable=_is_optional(field["type"])))
    known[schema["name"]] = pa.struct(fields)
    return known[schema["name"]]


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
