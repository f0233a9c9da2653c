"""The contract of formats: the content of files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.batch_rows import Extras, rows_of_batch
from connect_core.connectors.filesystem.columns import ColumnKinds
from connect_core.connectors.filesystem.formats.reading import FormatReader
from connect_core.connectors.filesystem.pluggable import Pluggable
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.connectors.filesystem.tables import table_of

__all__ = ["ColumnFormat", "Format", "FormatWriter"]

_GROUP_ROWS = 250_000


class FormatWriter(Protocol):
    """One file being written."""

    def write(self, table: pa.Table) -> None:
        """Append rows with the columns the file was opened with. Raises ConnectError, DataError."""

    def close(self) -> None:
        """Write the end of the file; the output stays open."""

    def abandon(self) -> None:
        """Discard the file; nothing more is written to its output, not even when this object is collected."""


class Format(Pluggable, ABC):
    """Converts rows to bytes. Used by one thread at a time; one object writes many files."""

    group_rows: int = _GROUP_ROWS
    """How many rows are buffered to be written at once."""
    has_fields: bool = True
    """Whether keys, headers and the place of a record can be stored in addition to the value."""
    reader: type[FormatReader] | None = None
    """The reader of such files; without one the format can only be written."""

    @property
    @abstractmethod
    def extension(self) -> str:
        """The ending of file names, without the first point: ``json.gz``."""

    @abstractmethod
    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the rows to store for records of one schema, as many as the batch has.

        Raises DataError if some record does not fit; it is then called for each record separately.
        """

    @abstractmethod
    def open(self, output: Output, columns: ColumnKinds) -> FormatWriter:
        """Start a file with these columns; each is nullable."""

    @abstractmethod
    def unite(self, parts: Iterable[tuple[BinaryIO, ColumnKinds]], output: Output, columns: ColumnKinds) -> None:
        """Write one file with the rows of several, in order; ``columns`` contains those of all. Raises DataError."""

    def count(self, source: BinaryIO) -> int | None:
        """Return how many rows a file of this format has, ``None`` if the file does not contain the count.

        May raise what its library raises for an invalid file. Needs only a part of the file in memory.
        """
        return None


class ColumnFormat(Format):
    """A format of typed columns, which are the same for all records of a file."""

    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the fields of maps and structs as columns, others as the column ``value``."""
        return rows_of_batch(batch, extras)

    @abstractmethod
    def read(self, source: BinaryIO, columns: ColumnKinds) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file that this format wrote with these columns."""

    def unite(self, parts: Iterable[tuple[BinaryIO, ColumnKinds]], output: Output, columns: ColumnKinds) -> None:
        """Read the rows of each part, cast and write them."""
        writer = self.open(output, columns)
        try:
            for source, known in parts:
                for batch in self.read(source, known):
                    rows = Rows(known, tuple(batch.columns) if known else (), len(batch), True)
                    writer.write(table_of([[array] for array in rows.cast(columns)], columns, len(batch)))
            writer.close()
        finally:
            writer.abandon()
