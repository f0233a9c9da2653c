"""File operations on resolved paths: a symbolic link that was inserted into one since is refused, not followed.

Every call walks down from ``/`` by descriptors and acts in the folder it reaches: no part can be replaced in between.
Raises OSError like the calls of ``os``, and ConnectError if a link, or something else, has replaced a folder.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from connect_core.errors import ConnectError

__all__ = ["hard_link", "make_folders", "open_file", "read_bytes", "remove", "remove_tree", "rename", "sync_folder"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_SWAPPED = frozenset((errno.ELOOP, errno.ENOTDIR))


def open_file(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open a file of an absolute path without following links → its descriptor."""
    with _folder(path.parent) as folder:
        return os.open(path.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        return file.read()


def make_folders(path: Path) -> None:
    """Create a folder and its missing parents."""
    with _folder(path, is_made=True):
        pass


def hard_link(source: Path, target: Path) -> None:
    """Create a hard link to a file. Raises FileExistsError."""
    with _folder(source.parent) as old, _folder(target.parent) as new:
        os.link(source.name, target.name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)


def rename(source: Path, target: Path) -> None:
    """Rename a file, replacing an existing one."""
    with _folder(source.parent) as old, _folder(target.parent) as new:
        os.rename(source.name, target.name, src_dir_fd=old, dst_dir_fd=new)


def remove(path: Path) -> None:
    """Remove a file, if it exists."""
    with suppress(FileNotFoundError), _folder(path.parent) as folder:
        os.unlink(path.name, dir_fd=folder)


def remove_tree(path: Path) -> None:
    """Remove a folder with its content; what cannot be removed is left."""
    with _folder(path.parent) as folder:
        shutil.rmtree(path.name, ignore_errors=True, dir_fd=folder)


def sync_folder(path: Path) -> None:
    """Make a folder's entries durable."""
    with _folder(path) as folder:
        os.fsync(folder)


@contextmanager
def _folder(path: Path, is_made: bool = False) -> Iterator[int]:
    """Open a folder, component by component."""
    folder = os.open("/", _FOLDER)
    try:
        for part in path.parts[1:]:
            inner = _inner(path, part, folder, is_made)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _inner(path: Path, part: str, folder: int, is_made: bool) -> int:
    try:
        try:
            return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            if not is_made:
                raise
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
            return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _SWAPPED:
            raise ConnectError(
                f"{path} cannot be used: {part} is a link or no longer a folder since the path was checked; "
                "restore the folder, or put the link's target in the connector's configuration"
            ) from error
        error.filename = str(path)
        raise
