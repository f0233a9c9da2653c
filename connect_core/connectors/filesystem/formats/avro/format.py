"""Avro container files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, ValidString
from connect_core.api.libraries import library
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.columns import ColumnKinds, field_names
from connect_core.connectors.filesystem.formats.avro.reading import AvroReader
from connect_core.connectors.filesystem.formats.avro.schema import avro_schema
from connect_core.connectors.filesystem.formats.format import ColumnFormat
from connect_core.connectors.filesystem.formats.maps import formed, maps_to_pairs, pairs_to_maps
from connect_core.connectors.filesystem.formats.plain_times import plain_type
from connect_core.connectors.filesystem.rows import VALUE, Rows
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.connectors.filesystem.tables import stored_schema
from connect_core.errors import ConfigError, DataError, MissingLibraryError

__all__ = ["AvroFormat"]

_CODEC = "avro.codec"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WHEEL = "cramjam"
"""Provides the codecs of fastavro that Python itself lacks."""
_READ_ROWS = 10_000


class AvroFormat(ColumnFormat):
    """Records with nullable fields; maps with text keys are maps, others lists of key and value."""

    reader = AvroReader
    extension = "avro"
    definition = ConfigDef().define(
        _CODEC,
        ConfigType.STRING,
        "deflate",
        validator=ValidString.one_of("null", "deflate", "bzip2", "xz", "snappy", "zstandard"),
        importance=Importance.LOW,
        doc="Compression of blocks in Avro files; snappy and zstandard need the package cramjam.",
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the codec. Raises ConfigError if its wheel, or fastavro, is not installed."""
        try:
            library("fastavro", "avro")
        except MissingLibraryError as error:
            raise ConfigError("format", "avro", str(error)) from error
        self._codec = settings.get_string(_CODEC) or "null"
        if self._codec in ("snappy", "zstandard") and find_spec(_WHEEL) is None:
            text = f"it needs the package {_WHEEL} on driver and workers: pip install {_WHEEL}, or choose deflate"
            raise ConfigError(_CODEC, self._codec, text)

    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the columns. Raises DataError for a field name that Avro does not allow."""
        rows = super().rows(batch, extras)
        for name in field_names(rows.columns):
            if not _NAME.match(name):
                text = "has a name that Avro does not allow; rename it with ReplaceField, or choose another format"
                raise DataError(f"field {name} {text}")
        return rows

    def open(self, output: Output, columns: ColumnKinds) -> _Writer:
        """Start a file."""
        return _Writer(output, columns or ((VALUE, "null"),), self._codec)

    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file."""
        # Imported lazily: few users read or write Avro.
        reader = library("fastavro", "avro").reader(source)
        _without_times(reader.writer_schema)
        records = iter(reader)
        schema = stored_schema(columns)
        forms = {name: form for name, kind in columns if (form := maps_to_pairs(kind))}
        while some := list(islice(records, _READ_ROWS)):
            arrays = [
                pa.array(formed([record[field.name] for record in some], forms.get(field.name)), field.type)
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def count(self, source: BinaryIO) -> int:
        """Return the number of records in the blocks."""
        return sum(block.num_records for block in library("fastavro", "avro").block_reader(source))


def _without_times(schema: Any) -> None:
    """Let a schema describe dates and times as the numbers they are: Python's own end with the year 9999."""
    if isinstance(schema, list):
        for part in schema:
            _without_times(part)
    elif isinstance(schema, dict):
        if str(schema.get("logicalType")).startswith(("date", "time")):
            del schema["logicalType"]
        for name in ("type", "items", "values", "fields"):
            _without_times(schema.get(name))


class _Writer:
    def __init__(self, output: Output, columns: ColumnKinds, codec: str) -> None:
        self._forms = [(name, pairs_to_maps(kind)) for name, kind in columns]
        schema = stored_schema(columns)
        self._schema = pa.schema([pa.field(field.name, plain_type(field.type)) for field in schema])
        self._writer = library("fastavro._write", "avro").Writer(output, avro_schema(columns), codec)

    def write(self, table: pa.Table) -> None:
        """Append records."""
        names = [name for name, _ in self._forms]
        for batch in table.cast(self._schema).to_batches():
            columns = [formed(array.to_pylist(), form) for array, (_, form) in zip(batch, self._forms, strict=True)]
            for cells in zip(*columns, strict=True):
                self._writer.write(dict(zip(names, cells, strict=True)))

    def close(self) -> None:
        """Write the last block."""
        self._writer.flush()

    def abandon(self) -> None:
        """Do nothing: only ``write`` and ``close`` write blocks."""
