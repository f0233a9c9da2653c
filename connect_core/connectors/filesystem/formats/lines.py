"""Formats of one text or byte string per record, which does not depend on other records."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterable
from typing import BinaryIO

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.columns import ColumnKinds
from connect_core.connectors.filesystem.formats.compression import compressed
from connect_core.connectors.filesystem.formats.format import Format
from connect_core.connectors.filesystem.rows import VALUE, Rows
from connect_core.connectors.filesystem.storages.storage import Output
from connect_core.errors import DataError

__all__ = ["LineFormat"]

_COLUMNS: ColumnKinds = ((VALUE, "binary"),)


class LineFormat(Format):
    """Writes the bytes of each record, followed by a separator."""

    codec = "none"
    separator = b"\n"

    @abstractmethod
    def encoded(self, batch: Batch, extras: Extras) -> pa.Array:
        """Return the bytes of each record, null for no line at all. Raises DataError."""

    def rows(self, batch: Batch, extras: Extras) -> Rows:
        """Return the records' bytes as one column."""
        try:
            lines = self.encoded(batch, extras)
        except RecursionError as error:
            raise DataError("the record is nested too deeply") from error
        except UnicodeEncodeError as error:
            raise DataError(f"a text of key, value or headers has half a character (a surrogate): {error}") from error
        return Rows(_COLUMNS, (lines,), len(batch), False)

    def open(self, output: Output, columns: ColumnKinds) -> _Writer:
        """Start a file."""
        return _Writer(compressed(output, self.codec), self.separator)

    def unite(self, parts: Iterable[tuple[BinaryIO, ColumnKinds]], output: Output, columns: ColumnKinds) -> None:
        """Concatenate the parts unchanged: members of gzip and frames of zstd may follow each other."""
        for source, _ in parts:
            shutil.copyfileobj(source, output)


class _Writer:
    def __init__(self, file: pa.NativeFile, separator: bytes) -> None:
        self._file, self._separator = file, separator

    def write(self, table: pa.Table) -> None:
        """Append records."""
        for chunk in table.column(VALUE).chunks:
            lines = [line for line in chunk.to_pylist() if line is not None]
            if lines:
                self._file.write(self._separator.join([*lines, b""]))

    def close(self) -> None:
        """Write the end of the stream."""
        self._file.close()

    def abandon(self) -> None:
        """Do nothing: the rest of the stream is not needed, and its output is closed."""
