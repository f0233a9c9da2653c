"""Writes data files in a table's folder that no version names yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileSystem

from connect_core.connectors.delta.partition_rows import PartitionValues
from connect_core.connectors.delta.statistics import statistics_of
from connect_core.connectors.parquet_writer import ParquetTableWriter

__all__ = ["FILE_BYTES", "OpenDataFile", "begin_data_file"]

FILE_BYTES = 512 * 1024 * 1024
"""How many bytes of rows, as held in memory, a file receives."""


@dataclass(slots=True)
class OpenDataFile:
    """A Parquet file that is being written."""

    path: str
    values: PartitionValues
    stream: Any
    writer: ParquetTableWriter
    bytes: int = 0

    def write(self, rows: pa.Table) -> None:
        """Add rows, without partition columns, as a row group."""
        self.writer.write(rows)
        self.bytes += rows.nbytes

    def close(self) -> Mapping[str, Any]:
        """Complete the file and return it as a decision names it."""
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        statistics = json.dumps(statistics_of(self.writer.metadata))
        return {"path": self.path, "size": size, "partition": dict(self.values), "statistics": statistics}

    def abandon(self) -> None:
        """Stop writing; what was written stays, unnamed."""
        self.writer.abandon()


def begin_data_file(files: FileSystem, path: str, values: PartitionValues, schema: pa.Schema) -> OpenDataFile:
    """Begin a file; ``schema``: its columns, without partition columns."""
    stream = files.open_output_stream(path)
    return OpenDataFile(path, values, stream, ParquetTableWriter(stream, schema, {"compression": "zstd"}))
