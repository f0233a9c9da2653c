"""The contract of a format's reader: converts bytes back to rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import from_arrow_field, to_arrow_type
from connect_core.api.batch import Columns, Data, Objects
from connect_core.connectors.filesystem.pluggable import Pluggable
from connect_core.errors import DataError

__all__ = [
    "FormatReader",
    "Span",
    "compression_of",
    "connect_columns",
    "decompressed",
    "has_only_nulls",
    "skipping",
    "stream_of",
]

Span = tuple[int, int]
"""The bytes [begin, end) of a file."""

_ONLY_NULLS = b"connect_core.only_nulls"
_CODECS = {".gz": "gzip", ".zst": "zstd"}


class FormatReader(Pluggable, ABC):
    """Reads the files of one format. Used by one thread at a time; one object reads many files."""

    is_split: bool = False
    """Whether several readers may share one file, each for the rows that begin in its span."""

    @abstractmethod
    def read(self, file: BinaryIO, name: str, span: Span, skip: int) -> Iterator[Data]:
        """Return the values of a file's rows, block by block, always in the same order.

        file: seekable; span: the whole file unless ``is_split``; skip: how many of its first rows to leave out. A
        block's size does not depend on the file's. Raises DataError if the file is not of this format.
        """


def compression_of(name: str) -> str | None:
    """Return the codec by a file's name: gzip for .gz, zstd for .zst."""
    return next((codec for ending, codec in _CODECS.items() if name.lower().endswith(ending)), None)


def decompressed(file: BinaryIO, name: str) -> pa.NativeFile:
    """Return the content of a file, decompressed according to its name."""
    return stream_of(file, compression_of(name))


def stream_of(file: BinaryIO, codec: str | None) -> pa.NativeFile:
    """Return the decompressed content of a file, which stays open."""
    source = pa.PythonFile(_Open(file), "r")
    return source if codec is None else pa.CompressedInputStream(source, codec)


class _Open:
    """A file that pyarrow does not close when it releases it: it may be read again from its start."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read, self.seek, self.tell = file.read, file.seek, file.tell

    def close(self) -> None:
        """Do nothing: the file is closed by whoever opened it."""


def skipping(blocks: Iterator[Data], skip: int) -> Iterator[Data]:
    """Return the blocks without their first ``skip`` rows."""
    for block in blocks:
        if skip >= len(block):
            skip -= len(block)
        elif skip:
            yield _rest(block, skip)
            skip = 0
        else:
            yield block


def connect_columns(array: pa.Array, nullable: bool = False) -> Columns:
    """Return a column in the Arrow type of its Connect schema. Raises DataError for types and values without one.

    Points in time are truncated to milliseconds. A column that Arrow knows only nulls of becomes optional strings, as
    FileSystemSink writes one of its type where all rows of a file are null; ``has_only_nulls`` tells it from strings.
    """
    if pa.types.is_null(array.type):
        return Columns(None, array)
    given, known = array.type, _without_null_types(array.type)
    if known != given:
        array = array.cast(known)
    schema = from_arrow_field(pa.field("value", array.type, nullable=nullable))
    kind = to_arrow_type(schema)
    if array.type != kind:
        try:
            array = array.cast(options=pc.CastOptions(kind, allow_time_truncate=True))
        except pa.ArrowException as error:
            raise DataError(f"a value{_failing(array, kind)} does not fit Connect's schema: {error}") from error
    return Columns(schema, _marked(array, given))


def has_only_nulls(field: pa.Field) -> bool:
    """Return whether a column of ``connect_columns`` had no type in its file."""
    return field.metadata is not None and _ONLY_NULLS in field.metadata


def _without_null_types(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_null_types(field.type)) for field in kind.fields])
    if pa.types.is_map(kind):
        item = kind.item_field.with_type(_without_null_types(kind.item_type))
        return pa.map_(kind.key_field, item, keys_sorted=kind.keys_sorted)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_null_types(kind.value_type)))
    return kind


def _marked(array: pa.Array, given: pa.DataType) -> pa.Array:
    """Return a struct column with a mark at the columns that had no type."""
    if not pa.types.is_struct(given) or array.null_count:
        return array
    if not any(pa.types.is_null(field.type) for field in given.fields):
        return array
    fields = [
        field.with_metadata({**(field.metadata or {}), _ONLY_NULLS: b""}) if pa.types.is_null(one.type) else field
        for field, one in zip(array.type.fields, given.fields, strict=True)
    ]
    return pa.StructArray.from_arrays(array.flatten(), fields=fields)


def _failing(array: pa.Array, kind: pa.DataType) -> str:
    """Return which column does not fit, for an error."""
    if pa.types.is_struct(kind):
        for field, column in zip(kind.fields, array.flatten(), strict=True):
            try:
                column.cast(options=pc.CastOptions(field.type, allow_time_truncate=True))
            except pa.ArrowException:
                return f" of the column {field.name}"
    return ""


def _rest(block: Data, skip: int) -> Data:
    if isinstance(block, Columns):
        return Columns(block.schema, block.array.slice(skip))
    return Objects(block.schemas[skip:], block.values[skip:])
