"""CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.columns import ColumnKinds, Kind, kind_of_type
from connect_core.connectors.filesystem.formats.column_reading import CsvReader
from connect_core.connectors.filesystem.formats.compression import (
    COMPRESSION,
    COMPRESSION_KEYS,
    ENDINGS,
    compressed,
    pieces_of,
)
from connect_core.connectors.filesystem.formats.format import ColumnFormat
from connect_core.connectors.filesystem.formats.json.values import json_bytes
from connect_core.connectors.filesystem.formats.maps import formed, pairs_to_maps
from connect_core.connectors.filesystem.formats.pyarrow_version import ensure_pyarrow
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.connectors.filesystem.tables import stored_schema
from connect_core.errors import ConfigError, DataError

__all__ = ["CsvFormat"]

_HEADER = "csv.header"
_DELIMITER = "csv.delimiter"
_NULL = "csv.null"


class CsvFormat(ColumnFormat):
    """Texts in quotes, other values and nulls without; bytes in base64, maps and lists as JSON."""

    reader = CsvReader
    definition = (
        ConfigDef(COMPRESSION_KEYS)
        .define(
            _HEADER,
            ConfigType.BOOLEAN,
            True,
            importance=Importance.MEDIUM,
            doc="Whether the first line of CSV files contains the column names.",
        )
        .define(
            _DELIMITER,
            ConfigType.STRING,
            ",",
            importance=Importance.MEDIUM,
            doc="The character that separates the values of a CSV line; write \\t for a tab.",
        )
        .define(
            _NULL,
            ConfigType.STRING,
            "",
            importance=Importance.MEDIUM,
            doc="The representation of null in CSV files, without quotes; a string equal to it is quoted.",
        )
    )

    @property
    def extension(self) -> str:
        """``csv``, with the ending of the compression."""
        return f"csv{ENDINGS[self._codec]}"

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings. Raises ConfigError for a delimiter or null text that would make lines ambiguous."""
        self._codec = settings.get_string(COMPRESSION) or "none"
        self._header = bool(settings.get_boolean(_HEADER))
        given = settings.get_string(_DELIMITER) or ""
        self._delimiter = "\t" if given == "\\t" else given
        if len(self._delimiter) != 1 or not self._delimiter.isascii() or self._delimiter in '"\r\n':
            raise ConfigError(
                _DELIMITER, given, "give one ASCII character that is neither a quote nor a line break, such as ;"
            )
        self._null = settings.get_string(_NULL) or ""
        if set(self._null) & {'"', "\r", "\n", self._delimiter}:
            raise ConfigError(
                _NULL, self._null, "quotes, line ends and the delimiter cannot be in it; give a text such as NULL"
            )
        if self._null:
            ensure_pyarrow(26, _NULL, self._null)

    def open(self, output: Output, columns: ColumnKinds) -> _Writer:
        """Start a file."""
        null = {"null_string": self._null} if self._null else {}
        options = csv.WriteOptions(include_header=self._header, delimiter=self._delimiter, **null)
        return _Writer(compressed(output, self._codec), stored_schema(_written(columns)), options)

    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file, with texts for types that CSV stores only as text."""
        names = stored_schema(columns).names
        schema = stored_schema(_written(columns))
        file = source if self._codec == "none" else pa.CompressedInputStream(source, self._codec)
        reader = csv.open_csv(
            file,
            csv.ReadOptions(column_names=names, skip_rows=int(self._header), use_threads=False),
            csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=schema,
                null_values=[self._null],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        yield from reader

    def unite(self, parts: Iterable[tuple[BinaryIO, ColumnKinds]], output: Output, columns: ColumnKinds) -> None:
        """Read the lines of each part and write them with the columns of all parts."""
        written = _written(columns)
        super().unite(((source, _written(known)) for source, known in parts), output, written)

    def count(self, source: BinaryIO) -> int:
        """Return how many lines end outside of quotes, without the header."""
        lines, is_quoted, is_empty = 0, False, True
        for piece in pieces_of(source, self._codec):
            is_empty = False
            for number, part in enumerate(piece.split(b'"')):
                is_quoted ^= number > 0
                lines += 0 if is_quoted else part.count(b"\n")
        return lines if is_empty else lines - int(self._header)


class _Writer:
    def __init__(self, file: pa.NativeFile, schema: pa.Schema, options: csv.WriteOptions) -> None:
        self._file, self._schema = file, schema
        self._writer = csv.CSVWriter(file, schema, write_options=options)

    def write(self, table: pa.Table) -> None:
        """Append lines."""
        columns = [_cells(column, field.type) for column, field in zip(table.columns, self._schema, strict=True)]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Write the end of the stream."""
        self._writer.close()
        self._file.close()

    def abandon(self) -> None:
        """Do nothing: the rest of the stream is not needed, and its output is closed."""


_WRITTEN = frozenset(map(str, (pa.bool_(), pa.date32(), pa.time32("ms"), pa.null(), *(pa.int8(), pa.int16())))) | {
    "int32",
    "int64",
    "float",
    "double",
    str(pa.timestamp("ms", "UTC")),
}
"""The kinds that CSV stores natively; all others are texts."""


def _written(columns: ColumnKinds) -> ColumnKinds:
    return tuple((name, kind if _is_written(kind) else "string") for name, kind in columns)


def _is_written(kind: Kind) -> bool:
    return kind in _WRITTEN or (isinstance(kind, str) and kind.startswith("decimal128"))


def _cells(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    kind = column.type
    if kind == wanted:
        return column
    if pa.types.is_decimal(kind):
        return column.cast(wanted)
    return pa.chunked_array([_texts(chunk) for chunk in column.chunks], wanted)


def _texts(array: pa.Array) -> pa.Array:
    try:
        values: list[Any] = array.to_pylist()
    except (ValueError, OverflowError) as error:
        raise DataError(f"a date or time is outside the years 1 to 9999 that CSV supports: {error}") from error
    maps = formed(values, pairs_to_maps(kind_of_type(array.type)))
    texts = [None if value is None else _text(value) for value in maps]
    return pa.array(texts, pa.string())


def _text(value: Any) -> str:
    text = json_bytes(value).decode()
    return text[1:-1] if isinstance(value, bytes) else text
