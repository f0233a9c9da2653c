"""Writes data files of a table that no snapshot has yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.io.pyarrow import ParquetFormatModel, ParquetFormatWriter, sanitize_column_names, schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from connect_core.connectors.parquet_writer import dictionary_columns

__all__ = ["OpenDataFile", "begin_data_file", "target_size"]

_FILE_BYTES = 512 * 1024 * 1024
_TARGET_SIZE = "write.target-file-size-bytes"


@dataclass(slots=True)
class OpenDataFile:
    """A Parquet file that is being written. ``spec``: the id of the partition spec that ``partition`` belongs to."""

    path: str
    spec: int
    partition: Record
    writer: ParquetFormatWriter
    bytes: int = 0

    def write(self, table: Table, rows: pa.Table) -> None:
        """Add rows, in the table's columns."""
        schema = schema_to_pyarrow(_file_schema(table))
        columns = [
            _as_named(column, part.type).cast(part.type) for column, part in zip(rows.columns, schema, strict=True)
        ]
        named = pa.Table.from_arrays(columns, schema=schema)
        if self.writer._writer is None:
            self.writer._parquet_writer_kwargs["use_dictionary"] = dictionary_columns(named)
        self.writer.write(named)
        self.bytes += rows.nbytes

    def close(self, table: Table) -> DataFile:
        """Complete the file and return it with its metrics."""
        statistics = self.writer.close().to_serialized_dict()
        file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=self.path,
            file_format=FileFormat.PARQUET,
            partition=self.partition,
            file_size_in_bytes=len(table.io.new_input(self.path)),
            sort_order_id=None,
            equality_ids=None,
            key_metadata=None,
            **statistics,
        )
        file.spec_id = self.spec
        return file

    def abandon(self) -> None:
        """Stop writing; what was written stays, unnamed."""
        if self.writer._writer is not None:
            self.writer._writer.is_open = False


def begin_data_file(
    table: Table, name: str, partition: Record, spec: int, properties: Mapping[str, str]
) -> OpenDataFile:
    """Begin a file. ``name``: its path within the table's data; ``properties``: override those of the table."""
    path = table.location_provider().new_data_location(name)
    merged = {**table.properties, **properties}
    writer = ParquetFormatModel().create_writer(table.io.new_output(path), _file_schema(table), merged)
    return OpenDataFile(path, spec, partition, writer)


def target_size(table: Table) -> int:
    """Return how many bytes of rows, as held in memory, a file receives."""
    return int(table.properties.get(_TARGET_SIZE) or _FILE_BYTES)


def _file_schema(table: Table) -> Schema:
    """Return the schema with names that Parquet's readers accept: fields are found by their ids."""
    return sanitize_column_names(table.schema())


def _as_named(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column whose nested fields have the names of the file's: Arrow casts structs by name, with nulls."""
    renamed = _renamed(column.type, kind)
    if renamed.equals(column.type):
        return column
    return pa.chunked_array([chunk.view(renamed) for chunk in column.chunks], renamed)


def _renamed(mine: pa.DataType, kind: pa.DataType) -> pa.DataType:
    """Return a type with the names of another one of the same fields, in the same order."""
    if pa.types.is_struct(mine):
        return pa.struct([
            part.with_type(_renamed(part.type, other.type)).with_name(other.name)
            for part, other in zip(mine.fields, kind.fields, strict=True)
        ])  # fmt: skip
    if pa.types.is_list(mine):
        return pa.list_(mine.value_field.with_type(_renamed(mine.value_type, kind.value_type)))
    if pa.types.is_large_list(mine):
        return pa.large_list(mine.value_field.with_type(_renamed(mine.value_type, kind.value_type)))
    if pa.types.is_map(mine):
        item = mine.item_field.with_type(_renamed(mine.item_type, kind.item_type))
        return pa.map_(mine.key_field.with_type(_renamed(mine.key_type, kind.key_type)), item)
    return mine
