"""Finding the lines a file held before it was rotated: under another name, or in a copy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.file.identity import FileIdentity
from connect_core.errors import ConnectError

__all__ = ["QUIET_SECONDS", "close", "find_copy", "find_renamed", "is_quiet", "opened"]

QUIET_SECONDS = 10.0
"""How long nobody must have written to a rotated file before it is left."""


def opened(file: AllowedFile) -> int | None:
    """Open for reading; ``None`` while there is no such file. Raises ConnectError."""
    try:
        return file.open(os.O_RDONLY)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ConnectError(f"{file.path} cannot be read: let the worker's user read it") from error


def close(descriptor: int | None) -> None:
    """Close what is open."""
    if descriptor is not None:
        os.close(descriptor)


def is_quiet(descriptor: int) -> bool:
    """Return whether nobody has written to an open file for a while; a time to come says nothing."""
    age = time.time() - os.fstat(descriptor).st_mtime
    return not -QUIET_SECONDS < age < QUIET_SECONDS


def find_renamed(identity: FileIdentity, folder: Path, limits: WorkerLimits) -> int | None:
    """Open the file of this inode and start that was renamed within its folder."""
    for one in _candidates(folder, limits, lambda entry: entry.inode() == identity.inode):
        if identity.is_same_inode(one) and identity.has_same_start(one):
            return one
        close(one)
    return None


def find_copy(identity: FileIdentity, path: Path, position: int, limits: WorkerLimits) -> int | None:
    """Open the longest copy, named after the file, of what it held up to ``position``, and perhaps beyond.

    What logrotate's ``copytruncate`` leaves: ``a.log.1`` beside an ``a.log`` that is short again.
    """

    def is_named_after(entry: os.DirEntry[str]) -> bool:
        return entry.name != path.name and entry.name.startswith(path.name)

    best: int | None = None
    for one in _candidates(path.parent, limits, is_named_after):
        size = os.fstat(one).st_size
        is_copy = size >= position and identity.has_same_start(one) and not identity.is_same_inode(one)
        if not is_copy or (best is not None and os.fstat(best).st_size >= size):
            close(one)
            continue
        close(best)
        best = one
    return best


def _candidates(folder: Path, limits: WorkerLimits, is_wanted: Callable[[os.DirEntry[str]], bool]) -> Iterator[int]:
    with os.scandir(folder) as entries:
        names = sorted(one.name for one in entries if is_wanted(one) and one.is_file(follow_symlinks=False))
    for name in names:
        descriptor = opened(AllowedFile.resolve("file", str(folder / name), limits))
        if descriptor is not None:
            yield descriptor
