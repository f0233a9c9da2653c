"""CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.bounds import named, scalars_of
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
from connect_core.connectors.filesystem.formats.json.scalars import shortest_floats
from connect_core.connectors.filesystem.formats.json.values import json_bytes
from connect_core.connectors.filesystem.formats.maps import formed, pairs_to_maps
from connect_core.connectors.filesystem.formats.pyarrow_version import ensure_pyarrow
from connect_core.connectors.filesystem.formats.reading import stream_of
from connect_core.connectors.filesystem.rows import Rows
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

    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the columns. Raises DataError for a time in a list, map or struct that its text cannot have."""
        rows = super().rows(batch, extras)
        for (name, kind), array in zip(rows.columns, rows.arrays, strict=True):
            if not isinstance(kind, str):
                _check_times(name, kind, array)
        return rows

    def open(self, output: Output, columns: ColumnKinds) -> _Writer:
        """Start a file."""
        null = {"null_string": self._null} if self._null else {}
        options = csv.WriteOptions(include_header=self._header, delimiter=self._delimiter, **null)
        return _Writer(compressed(output, self._codec), stored_schema(_written(columns)), options)

    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file, with texts for types that CSV stores only as text."""
        read = 0
        for size in _BLOCKS:
            source.seek(0)
            left = read
            try:
                for batch in self._texts(source, columns, size):
                    skipped = min(left, len(batch))
                    left -= skipped
                    read += len(batch) - skipped
                    if skipped < len(batch):
                        yield _parsed(batch.slice(skipped), stored_schema(_written(columns)))
                return
            except pa.ArrowInvalid as error:
                # Of a line that is longer than a block.
                failure = error
        raise DataError(f"columns that were found later cannot be added to the CSV data: {failure}") from failure

    def _texts(self, source: BinaryIO, columns: ColumnKinds, block: int) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file, with times as texts: Arrow reads only those of four-digit years."""
        file = stream_of(source, None if self._codec == "none" else self._codec)
        schema = stored_schema(_written(columns))
        types = {field.name: pa.string() if pa.types.is_temporal(field.type) else field.type for field in schema}
        # A header's line ends may be in quotes: it is skipped as a row.
        header = int(self._header)
        yield from csv.open_csv(
            file,
            csv.ReadOptions(
                column_names=schema.names, skip_rows_after_names=header, use_threads=False, block_size=block
            ),
            csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=types,
                null_values=[self._null],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

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


_BLOCKS = tuple(size * 1024 * 1024 for size in (1, 16, 256))
"""How many bytes are parsed at once; no line may be longer. More only if there is such a line."""
_TIME = re.compile(r"(-?\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)\.(\d{3})Z)?\Z")
_FIRST, _LAST = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))
_DAY = 86_400_000
_YEARS: Mapping[str, tuple[pa.DataType, int, int]] = {
    str(pa.date32()): (pa.int32(), _FIRST, _LAST),
    str(pa.timestamp("ms", "UTC")): (pa.int64(), _FIRST * _DAY, (_LAST + 1) * _DAY - 1),
}
"""The type and range of the numbers that Python's dates and times can represent, by their kind."""
_ERA = 146_097
"""The days of 400 years."""


def _parsed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with times of any year."""
    columns = [_times(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _check_times(name: str, kind: Kind, array: pa.Array) -> None:
    for place, part, values in scalars_of((name,), kind, array):
        known = _YEARS.get(part)
        if known is None:
            continue
        number, first, last = known
        ends = pc.min_max(values.cast(number)).as_py()
        if ends["min"] is not None and not first <= ends["min"] <= ends["max"] <= last:
            text = "is a date or time outside the years 1 to 9999 that CSV supports in lists, maps and structs"
            raise DataError(f"field {named(place)} {text}")


def _times(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if column.type == wanted:
        return column
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid:
        number = pa.int64() if pa.types.is_timestamp(wanted) else pa.int32()
        return pa.array(map(_number, column.to_pylist()), number).cast(wanted)


def _number(text: str | None) -> int | None:
    """Return the days since 1970, or the milliseconds if there is a time of day. Raises DataError."""
    found = _TIME.match(text) if text else None
    if found is None:
        if text is None:
            return None
        raise DataError(f"{text!r} in staged CSV data is not a date or time")
    year, month, day = map(int, found.group(1, 2, 3))
    eras, rest = divmod(year, 400)
    # Python's dates begin with the year 1 and end with 9999: the same day, some eras of 400 years earlier or later.
    days = date(rest + 2000, month, day).toordinal() - date(1970, 1, 1).toordinal() + (eras - 5) * _ERA
    if found[4] is None:
        return days
    hour, minute, second, millis = map(int, found.group(4, 5, 6, 7))
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis


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
    maps = formed(values, pairs_to_maps(kind_of_type(array.type), shortest_floats))
    texts = [None if value is None else _text(value) for value in maps]
    return pa.array(texts, pa.string())


def _text(value: Any) -> str:
    text = json_bytes(value).decode()
    return text[1:-1] if isinstance(value, bytes) else text
