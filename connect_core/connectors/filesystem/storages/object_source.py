"""Objects below a prefix as files to read."""

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
    """An object as a store lists it; ``version`` tells two contents of one name apart."""

    name: str
    size: int
    modified: datetime
    version: str


@dataclass(frozen=True, slots=True)
class ObjectSource(SourceFiles):
    """A store's objects. An object is whole or not there: only its replacement can change it.

    listing: all objects behind a prefix; piece: some bytes of an object of a version, which raises FileNotFoundError,
    or FileChangedError where there is another version; removal: of an object, if it is there; creation: of an empty
    one.
    """

    root: Path
    listing: Callable[[str], Iterator[ListedObject]]
    piece: Callable[[str, str, int, int], bytes]
    removal: Callable[[str], None]
    creation: Callable[[str], None]

    def listed(self) -> Iterator[FileEntry]:
        """Return the objects of which no part of the name below the prefix is skipped."""
        skipped = len(placed(self.root, "a")) - 1
        for one in self.listing(placed(self.root, "a")[:skipped]):
            name = one.name[skipped:]
            parts = name.split("/")
            if all(parts) and not any(is_skipped(part) or part in (".", "..") for part in parts):
                modified = (one.modified - _EPOCH) // timedelta(microseconds=1) * 1000
                yield FileEntry(name, one.size, modified, modified, one.version)

    def open(self, entry: FileEntry) -> BinaryIO:
        """Open an object; each read asks for some bytes of the very version that was listed."""
        place = placed(self.root, entry.name)

        def read(start: int, length: int) -> bytes:
            try:
                return self.piece(place, entry.version, start, length)
            except FileNotFoundError as error:
                raise FileGoneError(f"{entry.name} is gone") from error

        return ranged(entry.size, read)

    def check(self, entry: FileEntry) -> None:
        """Do nothing: all that was read is of the listed version."""

    def remove(self, entry: FileEntry) -> None:
        """Delete an object; it was listed as what was read just before."""
        self.removal(placed(self.root, entry.name))

    def mark(self, entry: FileEntry) -> None:
        """Write an empty object."""
        self.creation(placed(self.root, marker_of(entry.name)))


def changed(name: str) -> FileChangedError:
    """Return what is raised where a store has another version of an object."""
    return FileChangedError(f"{name} has changed")
