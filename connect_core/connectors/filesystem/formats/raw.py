"""The unchanged bytes of the values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.batch_rows import Extras, rows_of_batch
from connect_core.connectors.filesystem.formats.compression import COMPRESSION, COMPRESSION_KEYS, ENDINGS
from connect_core.connectors.filesystem.formats.line_reading import RawReader, TextReader
from connect_core.connectors.filesystem.formats.lines import LineFormat
from connect_core.connectors.filesystem.rows import VALUE
from connect_core.errors import ConfigError, DataError

__all__ = ["RawFormat", "TextFormat"]

_EXTENSION = "format.bytearray.extension"
_SEPARATOR = "format.bytearray.separator"


class RawFormat(LineFormat):
    """Bytes, or text in UTF-8, with a separator after each. Connect: ``ByteArrayFormat`` of Confluent's sinks."""

    reader = RawReader
    has_fields = False
    definition = (
        ConfigDef(COMPRESSION_KEYS)
        .define(
            _EXTENSION,
            ConfigType.STRING,
            ".bin",
            importance=Importance.LOW,
            doc="Suffix of the names of files of the format raw.",
        )
        .define(
            _SEPARATOR,
            ConfigType.STRING,
            None,
            importance=Importance.LOW,
            doc="Separator after each value in files of the format raw: a line feed if not set.",
        )
    )

    @property
    def extension(self) -> str:
        """The configured extension, with the ending of the compression."""
        return f"{self._extension}{ENDINGS[self.codec]}"

    def setup(self, settings: AbstractConfig) -> None:
        """Read extension, separator and compression. Raises ConfigError for an extension that no name can have."""
        self.codec = settings.get_string(COMPRESSION) or "none"
        separator = settings.get_string(_SEPARATOR)
        self.separator = b"\n" if separator is None else separator.encode()
        given = settings.get_string(_EXTENSION) or ""
        self._extension = given.removeprefix(".")
        if not self._extension.replace(".", "").replace("-", "").replace("_", "").isalnum() or len(given) > 32:
            raise ConfigError(
                _EXTENSION, given, "it is the suffix of file names: give letters and digits, such as .bin"
            )

    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the values' bytes; a null record gets none, not even a separator. Raises DataError for other types."""
        rows = rows_of_batch(batch, Extras())
        if not rows.columns:
            return pa.nulls(len(batch), pa.binary())
        if len(rows.columns) > 1 or rows.columns[0][0] != VALUE or rows.columns[0][1] not in ("binary", "string"):
            raise DataError(
                "the format raw stores bytes and strings only; set value.converter to ByteArrayConverter or "
                "StringConverter, or choose another format"
            )
        return rows.arrays[0].cast(pa.binary())


class TextFormat(LineFormat):
    """One line of text per record."""

    reader = TextReader
    has_fields = False
    definition = COMPRESSION_KEYS

    @property
    def extension(self) -> str:
        """``txt``, with the ending of the compression."""
        return f"txt{ENDINGS[self.codec]}"

    def setup(self, settings: AbstractConfig) -> None:
        """Read the compression."""
        self.codec = settings.get_string(COMPRESSION) or "none"

    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the texts; a null record gets no line. Raises DataError for other types and texts of several lines."""
        rows = rows_of_batch(batch, Extras())
        if not rows.columns:
            return pa.nulls(len(batch), pa.binary())
        if rows.columns != ((VALUE, "string"),):
            text = (
                "the format text stores strings only; set value.converter to StringConverter, or choose another format"
            )
            raise DataError(text)
        lines = rows.arrays[0].cast(pa.binary())
        if pc.any(pc.match_substring_regex(rows.arrays[0], r"[\r\n]")).as_py():
            raise DataError(
                "a string has several lines, which the format text cannot distinguish from records; choose json"
            )
        return lines
