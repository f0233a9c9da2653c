"""The contract of a storage for reading files that others put there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from connect_core.errors import ConnectError

__all__ = ["FileChangedError", "FileEntry", "FileGoneError", "SourceFiles", "is_skipped", "marker_of", "moved_name"]

MOVED = "_read"
"""The folder of files that were moved."""
_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".crdownload", ".filepart", ".swp", "~", "._COPYING_")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as listed.

    name: relative to the root, with ``/``; modified, touched: nanoseconds since 1970, when its content and when
    anything of it changed; version: distinguishes two contents of one name.
    """

    name: str
    size: int
    modified: int
    touched: int
    version: str


class FileGoneError(ConnectError):
    """A listed file no longer exists."""


class FileChangedError(ConnectError):
    """A file's content is no longer the one that was listed."""


class SourceFiles(ABC):
    """The files within a root. Each call may raise RetriableError."""

    @abstractmethod
    def listed(self) -> Iterator[FileEntry]:
        """Return all files in any order, except those that ``is_skipped`` excludes."""

    @abstractmethod
    def open(self, entry: FileEntry) -> BinaryIO:
        """Open a seekable file. Raises FileGoneError, FileChangedError, ConfigError for one that may not be read."""

    @abstractmethod
    def check(self, entry: FileEntry) -> None:
        """Raise FileGoneError or FileChangedError unless all that was read so far is of the listed version."""

    def remove(self, entry: FileEntry) -> None:
        """Delete a file of the listed version, if it exists. Raises RetriableError."""
        raise NotImplementedError

    def move(self, entry: FileEntry) -> None:
        """Move a file of the listed version, if it exists, into the folder ``_read``. Raises RetriableError."""
        raise NotImplementedError

    def mark(self, entry: FileEntry) -> None:
        """Write an empty file ``_<name>.read`` next to a file. Raises RetriableError."""
        raise NotImplementedError


def marker_of(name: str) -> str:
    """Return the name of the file that marks another."""
    folder, slash, bare = name.rpartition("/")
    return f"{folder}{slash}_{bare}.read"


def moved_name(entry: FileEntry, is_taken: bool) -> str:
    """Return the name of a moved file, with its version if another file has that name."""
    return f"{MOVED}/{entry.name}.{entry.version}" if is_taken else f"{MOVED}/{entry.name}"


def is_skipped(name: str) -> bool:
    """Return whether a file or folder is hidden, or unfinished, by the last part of its name."""
    return name.startswith((".", "_")) or name.endswith(_UNFINISHED)
