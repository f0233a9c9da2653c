"""The rows of one file until they are on disk: buffered, and in as few parts as their columns allow."""

from __future__ import annotations

from dataclasses import dataclass, field

from connect_core.connectors.filesystem.bounds import Bounds, changes
from connect_core.connectors.filesystem.columns import ColumnKinds, stored
from connect_core.connectors.filesystem.formats.format import Format, FormatWriter
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.storages.storage import Held, Output, Staging
from connect_core.connectors.filesystem.tables import table_of
from connect_core.errors import DataError

__all__ = ["GROUP_BYTES", "Part", "Parts"]

GROUP_BYTES = 64 * 1024 * 1024
_ARRAY_BYTES = 200
"""The size of an Arrow array in addition to its values: with many small arrays it exceeds them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A finished staged file and its columns."""

    held: Held
    columns: ColumnKinds
    rows: int
    final: str = ""
    """The only name under which it can be published; empty: any."""


@dataclass(slots=True)
class _Open:
    """A part being written."""

    output: Output
    writer: FormatWriter
    columns: ColumnKinds
    rows: int = 0

    def finish(self, final: str) -> Part:
        return Part(self.output.finish(final), self.columns, self.rows, final)

    def discard(self) -> None:
        self.writer.abandon()
        self.output.discard()


@dataclass(slots=True)
class Parts:
    """Rows of one file, buffered to groups; a new part starts when columns change. ``expected``: the file's name."""

    staging: Staging
    format: Format
    name: str
    expected: str
    columns: ColumnKinds = ()
    is_schemaless: bool | None = None
    """Whether there are rows without a schema; ``None`` as long as all values are null."""
    done: list[Part] = field(default_factory=list)
    buffered: int = 0
    """How many bytes are buffered."""
    _open: _Open | None = None
    _closed: list[_Open] = field(default_factory=list)
    _buffer: list[Rows] = field(default_factory=list)
    _rows: int = 0
    _bounds: Bounds = field(default_factory=Bounds)
    _bounded: int = 0
    """How many of the buffered rows are in the bounds; all that are written are."""

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return self._open is not None

    def add(self, rows: Rows, columns: ColumnKinds) -> None:
        """Add rows; ``columns`` contains their columns and those of all earlier rows."""
        self.columns = columns
        if rows.is_schemaless is not None:
            self.is_schemaless = self.is_schemaless or rows.is_schemaless
        self._buffer.append(rows)
        self._rows += rows.length
        self.buffered += sum(array.nbytes + _ARRAY_BYTES for array in rows.arrays)
        if self._rows >= self.format.group_rows or self.buffered >= GROUP_BYTES:
            self.flush()

    def check(self, columns: ColumnKinds) -> None:
        """Raise DataError if a row so far would not fit these columns, which contain its own."""
        if not changes(self.columns, columns):
            return
        for rows in self._buffer[self._bounded :]:
            for (name, kind), array in zip(rows.columns, rows.arrays, strict=True):
                self._bounds.add(name, kind, array)
        self._bounded = len(self._buffer)
        self._bounds.check(columns)

    def flush(self) -> None:
        """Write the buffered rows."""
        if not self._buffer:
            return
        wanted = stored(self.columns)
        if self._open is not None and self._open.columns != wanted:
            self.close()
        opened = self._open = self._open or self._begin(wanted)
        table = table_of(self._cast(wanted), wanted, self._rows)
        opened.writer.write(table)
        for (name, kind), column in zip(wanted, table.columns, strict=False):
            self._bounds.add(name, kind, column)
        opened.rows += self._rows
        self._buffer, self._rows, self._bounded, self.buffered = [], 0, 0, 0

    def close(self) -> None:
        """Complete the open part; further rows start another one."""
        if self._open is not None:
            self._end(self._open).output.seal()

    def finish(self, columns: ColumnKinds, final: str = "") -> list[Part]:
        """Write the buffered rows and return all parts.

        columns: as in ``add``; final: the name of the file, if it is one part. May be called again after a
        RetriableError.
        """
        self.columns = columns
        self.flush()
        if self._open is not None:
            self._end(self._open)
        name = final if len(self._closed) == 1 else ""
        while len(self.done) < len(self._closed):
            self.done.append(self._closed[len(self.done)].finish(name))
        return self.done

    def discard(self) -> None:
        """Close open files."""
        if self._open is not None:
            self._open.discard()
        for part in self._closed:
            part.output.discard()

    def _end(self, part: _Open) -> _Open:
        part.writer.close()
        self._closed.append(part)
        self._open = None
        return part

    def _begin(self, columns: ColumnKinds) -> _Open:
        name = f"{self.name}.{len(self._closed)}.{self.format.extension}"
        output = self.staging.create(name, self.expected)
        return _Open(output, self.format.open(output, columns), columns)

    def _cast(self, wanted: ColumnKinds) -> list[list[object]]:
        try:
            groups = [rows.cast(wanted) for rows in self._buffer]
        except DataError as error:
            raise DataError(f"partition {self.name}: {error}") from error
        return [list(chunks) for chunks in zip(*groups, strict=True)]
