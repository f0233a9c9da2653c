"""The contents of files: the contract of formats, and the built-in ones."""

from connect_core.connectors.filesystem.formats.avro.format import AvroFormat
from connect_core.connectors.filesystem.formats.csv import CsvFormat
from connect_core.connectors.filesystem.formats.envelope import EnvelopeFormat, PlainFormat
from connect_core.connectors.filesystem.formats.format import ColumnFormat, Format, FormatWriter
from connect_core.connectors.filesystem.formats.json.format import JsonLinesFormat
from connect_core.connectors.filesystem.formats.lines import LineFormat
from connect_core.connectors.filesystem.formats.orc.format import OrcFormat
from connect_core.connectors.filesystem.formats.parquet import ParquetFormat
from connect_core.connectors.filesystem.formats.raw import RawFormat, TextFormat
from connect_core.connectors.filesystem.formats.reading import FormatReader, Span

__all__ = [
    "AvroFormat",
    "ColumnFormat",
    "CsvFormat",
    "EnvelopeFormat",
    "Format",
    "FormatReader",
    "FormatWriter",
    "JsonLinesFormat",
    "LineFormat",
    "OrcFormat",
    "ParquetFormat",
    "PlainFormat",
    "RawFormat",
    "Span",
    "TextFormat",
]
