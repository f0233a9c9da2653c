"""What a storage offers those who read files that others put there."""

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
    """A file as it was listed.

    name: relative to the root, with ``/``; modified, touched: nanoseconds since 1970, when its content changed and
    when anything of it did; version: tells two contents of one name apart.
    """

    name: str
    size: int
    modified: int
    touched: int
    version: str


class FileGoneError(ConnectError):
    """Say that a listed file is no longer there."""


class FileChangedError(ConnectError):
    """Say that a file's content is no longer the one that was listed."""


class SourceFiles(ABC):
    """The files below a root. Each call may raise RetriableError."""

    @abstractmethod
    def listed(self) -> Iterator[FileEntry]:
        """Return all files in any order, save those ``is_skipped`` names."""

    @abstractmethod
    def open(self, entry: FileEntry) -> BinaryIO:
        """Open a file, seekable. Raises FileGoneError, FileChangedError, ConfigError for one that may not be read."""

    @abstractmethod
    def check(self, entry: FileEntry) -> None:
        """Raise FileGoneError or FileChangedError unless all that was read so far is of the listed version."""

    def remove(self, entry: FileEntry) -> None:
        """Delete a file of the listed version, if it is there. Raises RetriableError."""
        raise NotImplementedError

    def move(self, entry: FileEntry) -> None:
        """Move a file of the listed version, if it is there, into the folder ``_read``. Raises RetriableError."""
        raise NotImplementedError

    def mark(self, entry: FileEntry) -> None:
        """Put an empty file ``_<name>.read`` beside a file. Raises RetriableError."""
        raise NotImplementedError


def marker_of(name: str) -> str:
    """Return the name of the file that marks another."""
    folder, slash, bare = name.rpartition("/")
    return f"{folder}{slash}_{bare}.read"


def moved_name(entry: FileEntry, is_taken: bool) -> str:
    """Return the name of a file that was moved, with its version where another has that name."""
    return f"{MOVED}/{entry.name}.{entry.version}" if is_taken else f"{MOVED}/{entry.name}"


def is_skipped(name: str) -> bool:
    """Return whether a file or folder is hidden, or not finished, by the last part of its name."""
    return name.startswith((".", "_")) or name.endswith(_UNFINISHED)
