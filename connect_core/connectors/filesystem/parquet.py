"""Parquet files of one range of offsets, staged in as few parts as their columns allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from connect_core.connectors.filesystem.columns import ColumnKinds, stored, to_type
from connect_core.connectors.filesystem.rows import VALUE, Rows
from connect_core.connectors.link_free import make_folders
from connect_core.connectors.staged_file import StagedFile, Written
from connect_core.errors import DataError

__all__ = ["ParquetFile", "ParquetParts", "Part", "rewrite", "stored_schema"]

_GROUP_ROWS = 250_000
_GROUP_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    """A finished file and the columns it has."""

    file: Written
    columns: ColumnKinds
    rows: int


class ParquetFile:
    """One Parquet file being written. Raises ConnectError when the disk refuses."""

    def __init__(self, path: Path, columns: ColumnKinds, codec: str) -> None:
        self.columns = stored(columns)
        self.rows = 0
        self._staged = StagedFile(path)
        self._writer = pq.ParquetWriter(
            self._staged, stored_schema(self.columns), compression=codec, write_batch_size=64 * 1024
        )

    def write(self, arrays: list[list[pa.Array]], rows: int) -> None:
        """Append one row group; for each column its chunks."""
        schema = stored_schema(self.columns)
        # Without any column, rows would be lost: they are kept as nulls of one.
        chunks = arrays if self.columns else [[pa.nulls(rows)]]
        columns = [pa.chunked_array(chunk, part.type) for chunk, part in zip(chunks, schema, strict=True)]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=max(1, rows))
        self.rows += rows

    def finish(self) -> Part:
        """Complete the file and make it durable."""
        self._writer.close()
        return Part(self._staged.finish(), self.columns, self.rows)

    def discard(self) -> None:
        """Close the file, finished or not."""
        # Its writer would otherwise write the end of the file when it is collected.
        self._writer.is_open = False
        self._staged.discard()


@dataclass(slots=True)
class ParquetParts:
    """The rows of one range, buffered to row groups; a new part begins when columns change."""

    folder: Path
    name: str
    codec: str
    columns: ColumnKinds = ()
    is_schemaless: bool = False
    done: list[Part] = field(default_factory=list)
    _open: ParquetFile | None = None
    _buffer: list[Rows] = field(default_factory=list)
    _rows: int = 0
    _bytes: int = 0

    def add(self, rows: Rows, columns: ColumnKinds) -> None:
        """Take rows; ``columns`` hold these and all earlier ones."""
        self.columns = columns
        self.is_schemaless = self.is_schemaless or rows.is_schemaless
        self._buffer.append(rows)
        self._rows += rows.length
        self._bytes += sum(array.nbytes for array in rows.arrays)
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def finish(self, columns: ColumnKinds) -> list[Part]:
        """Write what is buffered and return all parts; ``columns`` as in ``add``."""
        self.columns = columns
        if self._buffer:
            self._flush()
        self._close()
        return self.done

    def discard(self) -> None:
        """Close what is open."""
        if self._open is not None:
            self._open.discard()

    def _flush(self) -> None:
        wanted = stored(self.columns)
        if self._open is not None and self._open.columns != wanted:
            self._close()
        if self._open is None:
            make_folders(self.folder)
            self._open = ParquetFile(self.folder / f"{self.name}.{len(self.done)}.parquet", wanted, self.codec)
        self._open.write(self._cast(wanted), self._rows)
        self._buffer, self._rows, self._bytes = [], 0, 0

    def _cast(self, wanted: ColumnKinds) -> list[list[pa.Array]]:
        try:
            groups = [rows.cast(wanted) for rows in self._buffer]
        except DataError as error:
            raise DataError(f"partition {self.name}: {error}") from error
        return [list(chunks) for chunks in zip(*groups, strict=True)]

    def _close(self) -> None:
        if self._open is not None:
            self.done.append(self._open.finish())
            self._open = None


def rewrite(parts: Sequence[Part], place: Path, columns: ColumnKinds, codec: str) -> Part:
    """Write the rows of parts into one new file of the given columns. Raises DataError."""
    target = ParquetFile(place, columns, codec)
    try:
        for part in parts:
            with pq.ParquetFile(part.file.path) as source:
                for batch in source.iter_batches(_GROUP_ROWS):
                    rows = Rows(part.columns, tuple(batch.columns) if part.columns else (), len(batch), True)
                    target.write([[array] for array in rows.cast(target.columns)], len(batch))
        return target.finish()
    finally:
        target.discard()


def stored_schema(columns: ColumnKinds) -> pa.Schema:
    """Return the schema of a file: one null column if it has none of its own."""
    if not columns:
        return pa.schema([pa.field(VALUE, pa.null())])
    return pa.schema([pa.field(name, to_type(kind)) for name, kind in columns])
