"""Copies data files without the rows that have certain keys; files that have none of them stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from connect_core.connectors.lake.keys import Bounds, KeySet

__all__ = ["OpenCopy", "Rewriting", "Source"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000

Added = TypeVar("Added", covariant=True)
"""A data file, in the form in which the format's commit names it."""
File = TypeVar("File")


class OpenCopy(Protocol[Added]):
    """A data file that is being written."""

    @property
    def path(self) -> str:
        """Its place, by which it can be removed."""

    @property
    def bytes(self) -> int:
        """How many bytes of rows, as held in memory, it has received."""

    def write(self, rows: pa.Table) -> None:
        """Add rows as a row group."""

    def close(self) -> Added:
        """Complete the file."""


class Source(Protocol[Added]):
    """A data file of a table."""

    @property
    def file(self) -> Added:
        """The file itself."""

    @property
    def partition(self) -> str:
        """What files whose rows may be copied into one file have in common; sources are copied in its order."""

    def bounds(self, columns: Sequence[str]) -> Bounds:
        """Return the least and greatest values of those columns for which they are known."""

    def rows(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """Return rows in their order, a little at a time; ``None``: all columns, by the table's present types."""

    def begin(self, name: str) -> OpenCopy[Added]:
        """Begin a file for rows of this one, named by a path within the table's data."""


@dataclass(slots=True)
class Rewriting(Generic[File]):
    """Files of one partition are copied one after the other, into as few as possible.

    ``folder``: a path for this attempt alone, within the table's data; ``target``: the bytes of rows for each file.
    """

    folder: str
    target: int
    removed: list[File] = field(default_factory=list)
    added: list[File] = field(default_factory=list)
    dropped: int = 0
    """How many rows were left out."""
    copied: int = 0
    places: list[str] = field(default_factory=list)
    """Every file begun."""
    _open: OpenCopy[File] | None = None
    _partition: str = ""
    _held: list[pa.Table] = field(default_factory=list)

    def drop(self, sources: Iterable[Source[File]], keys: KeySet) -> None:
        """Drop the rows with one of the keys from these files."""
        names = keys.rows.column_names
        for source in sorted(sources, key=lambda one: one.partition):
            if keys.may_be_in(source.bounds(names)):
                self._drop(source, keys)
        self._finish()

    def merge(self, sources: Sequence[Source[File]]) -> None:
        """Copy files of one partition into one, with all their rows."""
        for source in sources:
            self.removed.append(source.file)
            for rows in source.rows(None):
                if len(rows):
                    self._add(source, rows)
        self._finish()

    def _drop(self, source: Source[File], keys: KeySet) -> None:
        parts = list(source.rows(keys.rows.column_names))
        found = keys.found_in(pa.concat_tables(parts)) if parts else np.zeros(0, bool)
        if not found.any():
            return
        self.removed.append(source.file)
        self.dropped += int(found.sum())
        if found.all():
            return
        first = 0
        for rows in source.rows(None):
            kept = rows.filter(pa.array(~found[first : first + len(rows)]))
            first += len(rows)
            if len(kept):
                self._add(source, kept)

    def _add(self, source: Source[File], rows: pa.Table) -> None:
        if source.partition != self._partition:
            self._finish()
        if self._open is None:
            self._open = source.begin(f"{self.folder}/{len(self.places):05d}.parquet")
            self._partition = source.partition
            self.places.append(self._open.path)
        self._held.append(rows)
        self.copied += len(rows)
        if sum(len(one) for one in self._held) >= _GROUP_ROWS or sum(one.nbytes for one in self._held) >= _GROUP_BYTES:
            self._flush(self._open)
        if self._open.bytes >= self.target:
            self._finish()

    def _flush(self, file: OpenCopy[File]) -> None:
        if self._held:
            file.write(pa.concat_tables(self._held))
        self._held = []

    def _finish(self) -> None:
        if self._open is not None:
            self._flush(self._open)
            self.added.append(self._open.close())
        self._open = None
