"""Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range, ValidString
from connect_core.connectors.filesystem.columns import ColumnKinds
from connect_core.connectors.filesystem.formats.column_reading import ParquetReader
from connect_core.connectors.filesystem.formats.format import ColumnFormat
from connect_core.connectors.filesystem.formats.pyarrow_version import ensure_pyarrow
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.connectors.filesystem.tables import stored_schema
from connect_core.connectors.parquet_writer import ParquetTableWriter

__all__ = ["ParquetFormat"]

_CODEC = "parquet.codec"
_CODEC_IN_NAMES = "parquet.codec.in.names"
_ENDINGS = {"none": "", "snappy": "snappy.", "lz4": "lz4raw.", "zstd": "zstd.", "gzip": "gz."}
_GROUP_ROWS = "parquet.row.group.rows"
_STATISTICS = "parquet.statistics"
_DICTIONARY = "parquet.dictionary"
_BLOOM_COLUMNS = "parquet.bloom.filter.columns"
_READ_ROWS = 250_000


class ParquetFormat(ColumnFormat):
    """Columns of Parquet's own types; one row group per write."""

    reader = ParquetReader
    definition = (
        ConfigDef()
        .define(
            _CODEC,
            ConfigType.STRING,
            "zstd",
            validator=ValidString.one_of("none", "snappy", "lz4", "zstd", "gzip"),
            importance=Importance.LOW,
            doc="Compression of Parquet pages.",
        )
        .define(
            _CODEC_IN_NAMES,
            ConfigType.BOOLEAN,
            False,
            importance=Importance.LOW,
            doc="Whether names of Parquet files contain the codec, as in .snappy.parquet.",
        )
        .define(
            _GROUP_ROWS,
            ConfigType.INT,
            250_000,
            validator=Range.between(1, 10_000_000),
            importance=Importance.LOW,
            doc="Minimum number of rows in a Parquet row group, unless 64 MB or the end of the file is reached first.",
        )
        .define(
            _STATISTICS,
            ConfigType.BOOLEAN,
            True,
            importance=Importance.LOW,
            doc="Whether Parquet files store the minimum and maximum of each column.",
        )
        .define(
            _DICTIONARY,
            ConfigType.BOOLEAN,
            True,
            importance=Importance.LOW,
            doc="Whether Parquet columns whose values are repeated are dictionary-encoded.",
        )
        .define(
            _BLOOM_COLUMNS,
            ConfigType.LIST,
            "",
            importance=Importance.LOW,
            doc="Columns for which Parquet files have a Bloom filter, for lookups of single values (a.b in structs).",
        )
    )

    @property
    def extension(self) -> str:
        """``parquet``, after the codec if names contain it."""
        return f"{self._ending}parquet"

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings. Raises ConfigError for Bloom filters if pyarrow does not support them."""
        codec = settings.get_string(_CODEC) or "none"
        self._ending = _ENDINGS[codec] if settings.get_boolean(_CODEC_IN_NAMES) else ""
        self.group_rows = settings.get_int(_GROUP_ROWS) or 1
        self._bloom = frozenset(settings.get_list(_BLOOM_COLUMNS) or ())
        if self._bloom:
            ensure_pyarrow(24, _BLOOM_COLUMNS, ",".join(sorted(self._bloom)))
        self._options: dict[str, Any] = {
            "compression": codec,
            "write_statistics": settings.get_boolean(_STATISTICS),
            "use_dictionary": settings.get_boolean(_DICTIONARY),
        }

    def open(self, output: Output, columns: ColumnKinds) -> ParquetTableWriter:
        """Start a file."""
        schema = stored_schema(columns)
        return ParquetTableWriter(output, schema, {**self._options, **self._bloom_options(schema)})

    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file."""
        with pq.ParquetFile(source) as file:
            yield from file.iter_batches(_READ_ROWS)

    def count(self, source: BinaryIO) -> int:
        """Return the count in the footer."""
        return int(pq.read_metadata(source).num_rows)

    def _bloom_options(self, schema: pa.Schema) -> dict[str, Any]:
        """Return the options for Bloom filters of the configured columns that this file has and that support one."""
        wanted = self._bloom & {path for field in schema for path in _paths(field.name, field.type)}
        return {"bloom_filter_options": dict.fromkeys(sorted(wanted), True)} if wanted else {}


def _paths(name: str, kind: pa.DataType) -> Iterator[str]:
    if pa.types.is_struct(kind):
        for field in kind.fields:
            yield from _paths(f"{name}.{field.name}", field.type)
    elif not (pa.types.is_nested(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        yield name
