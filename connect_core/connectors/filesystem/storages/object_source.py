"""Objects within a prefix as files to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from connect_core.connectors.filesystem.storages.bucket_url import placed
from connect_core.connectors.filesystem.storages.ranged import ranged
from connect_core.connectors.filesystem.storages.source_files import (
    FileChangedError,
    FileEntry,
    FileGoneError,
    SourceFiles,
    is_skipped,
    marker_of,
)

__all__ = ["ListedObject", "ObjectSource", "changed"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as listed by a store; ``version`` distinguishes two contents of one name."""

    name: str
    size: int
    modified: datetime
    version: str


@dataclass(frozen=True, slots=True)
class ObjectSource(SourceFiles):
    """A store's objects. An object is complete or does not exist: only a replacement can change it.

    listing: all objects with a prefix; piece: some bytes of a version of an object, raises FileNotFoundError, or
    FileChangedError if there is another version; removal: removes an object, if it exists; creation: creates an empty
    one.
    """

    root: Path
    listing: Callable[[str], Iterator[ListedObject]]
    piece: Callable[[str, str, int, int], bytes]
    removal: Callable[[str], None]
    creation: Callable[[str], None]

    def listed(self) -> Iterator[FileEntry]:
        """Return the objects whose names, after the prefix, have no part that is skipped."""
        skipped = len(placed(self.root, "a")) - 1
        for one in self.listing(placed(self.root, "a")[:skipped]):
            name = one.name[skipped:]
            parts = name.split("/")
            if all(parts) and not any(is_skipped(part) or part in (".", "..") for part in parts):
                modified = (one.modified - _EPOCH) // timedelta(microseconds=1) * 1000
                yield FileEntry(name, one.size, modified, modified, one.version)

    def open(self, entry: FileEntry) -> BinaryIO:
        """Open an object; each read requests some bytes of exactly the version that was listed."""
        place = placed(self.root, entry.name)

        def read(start: int, length: int) -> bytes:
            try:
                return self.piece(place, entry.version, start, length)
            except FileNotFoundError as error:
                raise FileGoneError(f"{entry.name} no longer exists") from error

        return ranged(entry.size, read)

    def check(self, entry: FileEntry) -> None:
        """Do nothing: all that was read is of the listed version."""

    def remove(self, entry: FileEntry) -> None:
        """Delete an object; just before, it was listed in the version that was read."""
        self.removal(placed(self.root, entry.name))

    def mark(self, entry: FileEntry) -> None:
        """Write an empty object."""
        self.creation(placed(self.root, marker_of(entry.name)))


def changed(name: str) -> FileChangedError:
    """Return the error for an object of which the store has another version."""
    return FileChangedError(f"{name} has changed")
