"""Files of a folder of this machine, or of a file system that driver and workers both mount."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from connect_core.api.connector import WorkerLimits
from connect_core.connectors import link_free
from connect_core.connectors.allowed_file import AllowedFile, is_own, own_places
from connect_core.connectors.filesystem.storages.source_files import (
    FileChangedError,
    FileEntry,
    FileGoneError,
    SourceFiles,
    is_skipped,
    marker_of,
    moved_name,
)
from connect_core.errors import ConfigError, RetriableError

__all__ = ["LocalSource"]

_KEY = "path"


class LocalSource(SourceFiles):
    """Only regular files; no link is followed, neither to a file nor to a folder."""

    def __init__(self, root: Path, limits: WorkerLimits) -> None:
        self._root, self._limits = root, limits
        self._own = own_places(limits)
        self._own_names = frozenset(map(str, self._own))

    def listed(self) -> Iterator[FileEntry]:
        """Walk the folder; names that are not UTF-8 are skipped."""
        folders = [""]
        while folders:
            folder = folders.pop()
            for entry in self._entries(folder):
                name = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if not is_own(self._root / name, self._own):
                        folders.append(f"{name}/")
                elif entry.is_file(follow_symlinks=False) and f"{self._root}/{name}" not in self._own_names:
                    with suppress(FileNotFoundError):
                        yield _entry(name, entry.stat(follow_symlinks=False))

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder; empty if it was removed since it was listed, or does not exist yet."""
        try:
            with os.scandir(self._root / folder) as entries:
                return [entry for entry in entries if not is_skipped(entry.name) and _is_text(entry.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RetriableError(f"{self._root / folder} cannot be listed: {error.strerror}") from error

    def open(self, entry: FileEntry) -> BinaryIO:
        """Open a file within ``file.roots``, without following links."""
        place = self._root / entry.name
        allowed = AllowedFile.resolve(_KEY, str(place), self._limits)
        if allowed.path != place:
            raise ConfigError(_KEY, str(place), "it was replaced by a link; put the file itself there")
        try:
            file = os.fdopen(allowed.open(os.O_RDONLY), "rb", buffering=0)
        except FileNotFoundError as error:
            raise FileGoneError(f"{place} no longer exists") from error
        except OSError as error:
            raise RetriableError(f"{place} cannot be read: {error.strerror}") from error
        if _version(os.fstat(file.fileno())) != entry.version:
            file.close()
            raise FileChangedError(f"{place} has changed")
        return file

    def check(self, entry: FileEntry) -> None:
        """Compare size and modification time with those listed."""
        place = self._root / entry.name
        try:
            found = os.lstat(place)
        except FileNotFoundError as error:
            raise FileGoneError(f"{place} no longer exists") from error
        if not stat.S_ISREG(found.st_mode) or _version(found) != entry.version:
            raise FileChangedError(f"{place} has changed")

    def remove(self, entry: FileEntry) -> None:
        """Delete a file."""
        if self._is_same(entry):
            with _putting_away(entry):
                link_free.remove(self._root / entry.name)

    def move(self, entry: FileEntry) -> None:
        """Rename a file."""
        if not self._is_same(entry):
            return
        target = self._root / moved_name(entry, is_taken=False)
        if os.path.lexists(target):
            target = self._root / moved_name(entry, is_taken=True)
        with _putting_away(entry):
            link_free.make_folders(target.parent)
            link_free.rename(self._root / entry.name, target)

    def mark(self, entry: FileEntry) -> None:
        """Write an empty file, unless it exists."""
        if self._is_same(entry):
            with _putting_away(entry):
                os.close(link_free.open_file(self._root / marker_of(entry.name), os.O_WRONLY | os.O_CREAT))

    def _is_same(self, entry: FileEntry) -> bool:
        try:
            self.check(entry)
        except (FileGoneError, FileChangedError):
            return False
        return True


@contextmanager
def _putting_away(entry: FileEntry) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        text = f"{entry.name} was read and cannot be moved or removed ({error.strerror})"
        raise RetriableError(
            f"{text}; give the worker's user write access to its folder, or set after.commit=leave"
        ) from error


def _entry(name: str, status: os.stat_result) -> FileEntry:
    touched = max(status.st_mtime_ns, status.st_ctime_ns)
    return FileEntry(name, status.st_size, status.st_mtime_ns, touched, _version(status))


def _version(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
