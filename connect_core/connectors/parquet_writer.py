"""Writes Parquet files, with dictionaries only for columns whose values are repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["ParquetTableWriter", "dictionary_columns"]

_SAMPLE_ROWS = 32_768
_LARGEST_SHARE = 0.5
"""The share of distinct values up to which a column gets a dictionary."""
_WRITE_BATCH_ROWS = 64 * 1024


@dataclass(slots=True)
class ParquetTableWriter:
    """One file being written, a row group for each table.

    Its first table decides which columns get a dictionary: for the others, Arrow would hash every value, only to write
    them as they are once the dictionary is full, which takes as long again as all the rest.
    """

    output: Any
    schema: pa.Schema
    options: dict[str, Any] = field(default_factory=dict)
    """Of ``pyarrow.parquet.ParquetWriter``; with ``use_dictionary=False`` no column gets one."""
    _writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Append one row group."""
        self._opened(table).write_table(table, row_group_size=max(1, len(table)))

    def close(self) -> None:
        """Write the end of the file; the output stays open."""
        self._opened(self.schema.empty_table()).close()

    @property
    def metadata(self) -> pq.FileMetaData:
        """What the end of the closed file says of its columns."""
        assert self._writer is not None
        return self._writer.writer.metadata

    def abandon(self) -> None:
        """Discard the file."""
        # Otherwise the writer would write the end of the file when it is collected.
        if self._writer is not None:
            self._writer.is_open = False

    def _opened(self, first: pa.Table) -> pq.ParquetWriter:
        if self._writer is None:
            options = {"write_batch_size": _WRITE_BATCH_ROWS, **self.options}
            if options.get("use_dictionary", True):
                options["use_dictionary"] = dictionary_columns(first)
            self._writer = pq.ParquetWriter(self.output, self.schema, **options)
        return self._writer


def dictionary_columns(table: pa.Table) -> list[str]:
    """Return the paths, in the Parquet schema, of the columns to encode with a dictionary.

    Nested columns always are: their values are not counted.
    """
    sample = table.slice(0, _SAMPLE_ROWS)
    return [
        path
        for part, column in zip(sample.schema, sample.columns, strict=True)
        if pa.types.is_nested(part.type) or _is_repeated(column)
        for path in _leaves(part.name, part.type)
    ]


def _is_repeated(column: pa.ChunkedArray) -> bool:
    try:
        distinct: int = pc.count_distinct(column, mode="only_valid").as_py()
    except pa.ArrowNotImplementedError:
        # Arrow counts no string views, nulls and dictionaries.
        return True
    return bool(distinct <= _LARGEST_SHARE * (len(column) - column.null_count))


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the paths of the columns in which Parquet stores a column of Arrow."""
    if pa.types.is_struct(kind):
        for part in kind.fields:
            yield from _leaves(f"{path}.{part.name}", part.type)
    elif pa.types.is_map(kind):
        yield from _leaves(f"{path}.key_value.key", kind.key_type)
        yield from _leaves(f"{path}.key_value.value", kind.item_type)
    elif pa.types.is_nested(kind) and not pa.types.is_union(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    else:
        yield path
