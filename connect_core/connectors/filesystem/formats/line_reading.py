"""Reads formats of one line per record: JSON, text, and bytes with a separator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
import orjson
import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.api.data import BYTES_SCHEMA, STRING_SCHEMA
from connect_core.connectors.filesystem.formats.reading import (
    FormatReader,
    Span,
    compression_of,
    decompressed,
    skipping,
)
from connect_core.errors import DataError

__all__ = ["JsonLinesReader", "RawReader", "TextReader"]

_BLOCK = 4 * 1024 * 1024
_LONGEST = 256 * 1024 * 1024
_SEPARATOR = "format.bytearray.separator"


class _LineReader(FormatReader):
    """Reads the lines that begin in a span; the last one needs no terminator."""

    is_split = True
    separator = b"\n"

    def read(self, file: BinaryIO, name: str, span: Span, skip: int) -> Iterator[Data]:
        """Return the lines of each block of 4 MB."""
        return skipping((self.values(lines, name) for lines in self._lines(file, name, span)), skip)

    def values(self, lines: list[bytes], name: str) -> Data:
        """Return the values of lines."""
        raise NotImplementedError

    def _lines(self, file: BinaryIO, name: str, span: Span) -> Iterator[list[bytes]]:
        is_compressed = compression_of(name) is not None
        begin, end = (0, None) if is_compressed else span
        stream = decompressed(file, name)
        place = begin
        if begin:
            # The line that contains the byte before the span began in an earlier span.
            stream.seek(begin - 1)
            place = begin - 1
        rest, is_first = b"", begin > 0
        while end is None or place < end:
            data = stream.read(_BLOCK)
            rest += data
            *lines, rest = rest.split(self.separator)
            if not data:
                lines, rest = ([rest] if rest else []), b""
            if is_first and lines:
                place += len(lines.pop(0)) + len(self.separator)
                is_first = False
            lines = self._within(lines, place, end)
            place += sum(map(len, lines)) + len(lines) * len(self.separator)
            if lines:
                yield lines
            if not data:
                return
            if len(rest) > _LONGEST:
                raise DataError(f"{name} has a line of more than {_LONGEST} bytes: it is not a file of this format")

    def _within(self, lines: list[bytes], place: int, end: int | None) -> list[bytes]:
        """Return the lines that begin before the end of a span."""
        if end is None or place + sum(map(len, lines)) + len(lines) * len(self.separator) <= end:
            return lines
        kept = []
        for line in lines:
            if place >= end:
                break
            kept.append(line)
            place += len(line) + len(self.separator)
        return kept


class JsonLinesReader(_LineReader):
    """A value without a schema from each line; blank lines are skipped."""

    def values(self, lines: list[bytes], name: str) -> Data:
        """Parse the lines. Raises DataError naming the first that is not JSON."""
        # orjson makes floats of integers of more than 64 bits.
        fast = None if _has_long_number(b"\n".join(lines)) else orjson.loads
        values = [_parsed(line, name, fast) for line in lines if line and not line.isspace()]
        return Objects([None] * len(values), values)


class TextReader(_LineReader):
    """A string from each line; bytes that are not UTF-8 become U+FFFD."""

    def values(self, lines: list[bytes], name: str) -> Data:
        """Decode the lines, without Windows' carriage returns."""
        bare = [line.removesuffix(b"\r") for line in lines]
        try:
            return Columns(STRING_SCHEMA, pa.array(bare, pa.binary()).cast(pa.string()))
        except pa.ArrowInvalid:
            return Columns(STRING_SCHEMA, pa.array([line.decode("utf-8", "replace") for line in bare], pa.string()))


class RawReader(_LineReader):
    """Bytes between separators."""

    definition = ConfigDef().define(
        _SEPARATOR,
        ConfigType.STRING,
        None,
        importance=Importance.LOW,
        doc="Separator after each value in files of the format raw: a line feed if not set.",
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the separator."""
        given = settings.get_string(_SEPARATOR)
        self.separator = given.encode() if given else b"\n"
        self.is_split = len(self.separator) == 1

    def values(self, lines: list[bytes], name: str) -> Data:
        """Return the bytes."""
        return Columns(BYTES_SCHEMA, pa.array(lines, pa.binary()))


def _has_long_number(text: bytes) -> bool:
    """Return whether there are 19 digits in a row, as in all integers of more than 64 bits."""
    found = np.frombuffer(text, np.uint8) - ord("0") < 10
    # The places where 2, 4, 8, 16 and then 19 digits begin.
    for step in (1, 2, 4, 8, 3):
        found = found[:-step] & found[step:]
    return bool(found.any())


def _parsed(line: bytes, name: str, fast: Callable[[bytes], Any] | None) -> Any:
    if fast is not None:
        try:
            return fast(line)
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(line)
    except ValueError as error:
        raise DataError(
            f"{name} has a line that is not JSON ({error}): {_shown(line)}; correct or remove the file"
        ) from error
    except RecursionError as error:
        raise DataError(
            f"{name} has a line of too many lists or objects in each other: {_shown(line)}; correct or remove the file"
        ) from error


def _shown(line: bytes) -> str:
    return line[:80].decode("utf-8", "replace")
