"""Reads the column formats Parquet and CSV."""

from __future__ import annotations

import csv as lines
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from connect_core.api.batch import Columns, Data
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.formats.reading import (
    FormatReader,
    Span,
    connect_columns,
    decompressed,
    skipping,
)
from connect_core.errors import ConfigError, DataError

__all__ = ["CsvReader", "ParquetReader"]

_ROWS = 10_000
_BLOCK = 1024 * 1024
_LONGEST = 256 * _BLOCK
_TOO_LONG = "straddling object"
"""In pyarrow's error for a row that is longer than a block."""
_HEADER = "csv.header"
_DELIMITER = "csv.delimiter"
_NULL = "csv.null"
_COLUMNS = "csv.columns"
_TYPES = "csv.types"
_KINDS: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("ms", "UTC"),
}


class ParquetReader(FormatReader):
    """Structs of the columns; a row group belongs to the span that contains its first byte."""

    is_split = True

    def read(self, file: BinaryIO, name: str, span: Span, skip: int) -> Iterator[Data]:
        """Return blocks of 10,000 rows; row groups that are skipped completely are not read."""
        try:
            with pq.ParquetFile(file) as parquet:
                groups = list(_groups(parquet.metadata, span))
                while groups and skip >= parquet.metadata.row_group(groups[0]).num_rows:
                    skip -= parquet.metadata.row_group(groups.pop(0)).num_rows
                blocks = parquet.iter_batches(_ROWS, row_groups=groups, use_threads=False) if groups else ()
                yield from skipping((_rows(block, name) for block in blocks), skip)
        except pa.ArrowException as error:
            raise DataError(f"{name} is not a Parquet file that can be read: {error}; replace or remove it") from error


class CsvReader(FormatReader):
    """Structs of texts, or of the given types; an unquoted null text is null."""

    definition = (
        ConfigDef()
        .define(
            _HEADER,
            ConfigType.BOOLEAN,
            True,
            importance=Importance.MEDIUM,
            doc="Whether the first line of CSV files contains the column names.",
        )
        .define(
            _COLUMNS,
            ConfigType.LIST,
            "",
            importance=Importance.MEDIUM,
            doc="The names of the columns of CSV files without a header.",
        )
        .define(
            _TYPES,
            ConfigType.LIST,
            "",
            importance=Importance.MEDIUM,
            doc="Types of CSV columns, as in id:int64,at:timestamp; all others are string. Supported types: "
            f"{', '.join(_KINDS)}.",
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
            doc="The representation of null in CSV files, without quotes.",
        )
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings. Raises ConfigError for columns without names and for unknown types."""
        self._header = bool(settings.get_boolean(_HEADER))
        self._names = list(settings.get_list(_COLUMNS) or ())
        if not self._header and not self._names:
            raise ConfigError(
                _COLUMNS, "", f"files without a header need column names; give them, or set {_HEADER}=true"
            )
        self._types = dict(_typed(one) for one in settings.get_list(_TYPES) or ())
        given = settings.get_string(_DELIMITER) or ""
        self._delimiter = "\t" if given == "\\t" else given
        if len(self._delimiter) != 1 or not self._delimiter.isascii() or self._delimiter in '"\r\n':
            raise ConfigError(
                _DELIMITER, given, "give one ASCII character that is neither a quote nor a line break, such as ;"
            )
        self._null = settings.get_string(_NULL) or ""

    def read(self, file: BinaryIO, name: str, span: Span, skip: int) -> Iterator[Data]:
        """Return blocks of 1 MB; a file is always read completely, as quotes may contain line ends."""
        names, length = self._first(file, name) if self._header else (self._names, 0)
        if not names:
            return
        try:
            yield from skipping(self._rows(_Content(file, name, length), names), skip)
        except pa.ArrowException as error:
            raise DataError(f"{name} does not match the CSV settings: {error}; fix the file or the settings") from error

    def _first(self, file: BinaryIO, name: str) -> tuple[list[str], int]:
        """Return the names in the first line, and the number of its bytes: it may contain line ends in quotes."""
        text = io.TextIOWrapper(io.BufferedReader(decompressed(file, name)), "utf-8", newline="")
        read: list[str] = []
        try:
            rows = lines.reader(_noted(text, read), delimiter=self._delimiter)
            found = next((row for row in rows if row), [])
        except (UnicodeDecodeError, lines.Error, OSError) as error:
            raise DataError(f"{name} does not begin with a line of CSV in UTF-8: {error}; fix or remove it") from error
        finally:
            text.detach()
        return found, len("".join(read).encode())

    def _rows(self, content: _Content, names: list[str]) -> Iterator[Data]:
        """Return the rows; at one that is longer than a block, the file is read again in larger ones."""
        done, size = 0, _BLOCK
        while True:
            try:
                for block in skipping(self._blocks(content, names, size), done):
                    yield block
                    done += len(block)
                return
            except pa.ArrowInvalid as error:
                if _TOO_LONG not in str(error):
                    raise
                if size == _LONGEST or (size == _BLOCK and content.has_open_quote()):
                    raise DataError(
                        f"{content.name} has a row of more than {size} bytes after row {done}; it may have a quote "
                        "that is not closed: fix or remove it"
                    ) from error
            size = min(4 * size, _LONGEST)

    def _blocks(self, content: _Content, names: list[str], size: int) -> Iterator[Data]:
        stream = content.opened()
        if stream.peek(1):
            for block in csv.open_csv(stream, **self._options(names, size)):
                yield _rows(block, content.name)

    def _options(self, names: list[str], size: int) -> dict[str, Any]:
        return {
            "read_options": csv.ReadOptions(column_names=names, use_threads=False, block_size=size),
            # In a file of one column, an empty line is how a null is written.
            "parse_options": csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            "convert_options": csv.ConvertOptions(
                column_types={name: self._types.get(name, pa.string()) for name in names},
                null_values=[self._null],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }


@dataclass(frozen=True, slots=True)
class _Content:
    """The lines of a CSV file behind its header, which has ``length`` bytes."""

    file: BinaryIO
    name: str
    length: int

    def opened(self) -> io.BufferedReader:
        """Return them from the first one, decompressed."""
        self.file.seek(0)
        stream = io.BufferedReader(decompressed(self.file, self.name))
        stream.read(self.length)
        return stream

    def has_open_quote(self) -> bool:
        """Return whether a quote is not closed: all that follows it would be one value."""
        stream, quotes = self.opened(), 0
        while piece := stream.read(_BLOCK):
            quotes += piece.count(b'"')
        return quotes % 2 == 1


def _noted(text: Iterable[str], read: list[str]) -> Iterator[str]:
    """Return lines without a byte order mark, and append each to ``read`` as it is."""
    for line in text:
        shown = line if read else line.removeprefix("\ufeff")
        read.append(line)
        yield shown


def _typed(text: str) -> tuple[str, pa.DataType]:
    name, _, kind = text.rpartition(":")
    if not name or kind not in _KINDS:
        raise ConfigError(_TYPES, text, f"write a column's name, a colon and one of {', '.join(_KINDS)}")
    return name, _KINDS[kind]


def _rows(block: pa.RecordBatch, name: str) -> Columns:
    """Return rows as structs, none of which is null. Raises DataError naming the file."""
    array = pa.StructArray.from_arrays(block.columns, fields=list(block.schema))
    try:
        return connect_columns(array)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _groups(metadata: pq.FileMetaData, span: Span) -> Iterator[int]:
    begin, end = span
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        column = row_group.column(0) if row_group.num_columns else None
        place = 0 if column is None else column.dictionary_page_offset or column.data_page_offset
        if begin <= place < end:
            yield group
