"""Rows that are kept until the end of an interval: in memory, then in a file without a name on the worker's disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, Any

import pyarrow as pa

__all__ = ["Spool"]


@dataclass(slots=True)
class Spool:
    """Tables in the order in which they were added; the file disappears with the process."""

    buffered: int = 0
    """How many bytes are held in memory."""
    _held: list[pa.Table] = field(default_factory=list)
    _file: IO[Any] | None = None
    _streams: list[int] = field(default_factory=list)
    """Where the streams in the file begin."""

    def add(self, rows: pa.Table) -> None:
        """Add rows, in memory."""
        self._held.append(rows)
        self.buffered += rows.nbytes

    def flush(self) -> None:
        """Move what is in memory to the file."""
        if not self._held:
            return
        self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115
        for schema, some in groupby(self._held, lambda rows: rows.schema):
            self._streams.append(self._file.seek(0, 2))
            with pa.ipc.new_stream(self._file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
                for rows in some:
                    stream.write_table(rows)
        self._held, self.buffered = [], 0

    def __iter__(self) -> Iterator[pa.Table]:
        """Return all rows, a little at a time."""
        for place in self._streams:
            assert self._file is not None
            self._file.seek(place)
            with pa.ipc.open_stream(self._file) as stream:
                for batch in stream:
                    yield pa.Table.from_batches([batch])
        yield from self._held

    def close(self) -> None:
        """Drop everything."""
        if self._file is not None:
            self._file.close()
        self._file, self._held, self._streams, self.buffered = None, [], [], 0
