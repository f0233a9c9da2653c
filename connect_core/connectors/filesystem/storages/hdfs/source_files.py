"""The files of HDFS, for reading."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from connect_core.connectors.filesystem.storages.hdfs.client import HdfsClient
from connect_core.connectors.filesystem.storages.source_files import (
    FileChangedError,
    FileEntry,
    FileGoneError,
    SourceFiles,
    is_skipped,
    marker_of,
    moved_name,
)

if TYPE_CHECKING:
    import hdfs_native

__all__ = ["HdfsSource"]

_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class HdfsSource(SourceFiles):
    """Files of a folder. A file that was appended to has another length, or time, once it is closed."""

    client: HdfsClient
    root: Path

    def listed(self) -> Iterator[FileEntry]:
        """Walk the folder."""
        folders = [""]
        while folders:
            folder = folders.pop()
            for status in self.client.statuses(str(self.root / folder)):
                bare = status.path.rpartition("/")[2]
                if is_skipped(bare):
                    continue
                if status.isdir:
                    folders.append(f"{folder}{bare}/")
                else:
                    yield _entry(f"{folder}{bare}", status)

    def open(self, entry: FileEntry) -> BinaryIO:
        """Open a file."""
        self.check(entry)
        try:
            return cast(BinaryIO, io.BufferedReader(self.client.open(str(self.root / entry.name)), _PIECE))
        except FileNotFoundError as error:
            raise FileGoneError(f"{entry.name} no longer exists") from error

    def check(self, entry: FileEntry) -> None:
        """Compare length and modification time with those listed."""
        status = self.client.status(str(self.root / entry.name))
        if status is None:
            raise FileGoneError(f"{entry.name} no longer exists")
        if status.isdir or _entry(entry.name, status).version != entry.version:
            raise FileChangedError(f"{entry.name} has changed")

    def remove(self, entry: FileEntry) -> None:
        """Delete a file."""
        if self._is_same(entry):
            self.client.remove(str(self.root / entry.name))

    def move(self, entry: FileEntry) -> None:
        """Rename a file."""
        if not self._is_same(entry):
            return
        target = self.root / moved_name(entry, is_taken=False)
        if self.client.status(str(target)) is not None:
            target = self.root / moved_name(entry, is_taken=True)
        self.client.make_folders(str(target.parent))
        with suppress(FileNotFoundError):
            self.client.rename(str(self.root / entry.name), str(target), overwrite=True)

    def mark(self, entry: FileEntry) -> None:
        """Write an empty file."""
        if self._is_same(entry):
            self.client.create(str(self.root / marker_of(entry.name)), overwrite=True).close()

    def _is_same(self, entry: FileEntry) -> bool:
        try:
            self.check(entry)
        except (FileGoneError, FileChangedError):
            return False
        return True


def _entry(name: str, status: hdfs_native.FileStatus) -> FileEntry:
    modified = int(status.modification_time) * 1_000_000
    version = f"{int(status.modification_time):x}-{int(status.length):x}"
    return FileEntry(name, int(status.length), modified, modified, version)
