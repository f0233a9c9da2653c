"""Finds the lines that a file contained before it was rotated: under another name, or in a copy."""

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
"""How long a rotated file must remain unchanged before the source leaves it."""


def opened(file: AllowedFile) -> int | None:
    """Open for reading; ``None`` if the file does not exist. Raises ConnectError."""
    try:
        return file.open(os.O_RDONLY)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ConnectError(f"{file.path} cannot be read: let the worker's user read it") from error


def close(descriptor: int | None) -> None:
    """Close a descriptor, if there is one."""
    if descriptor is not None:
        os.close(descriptor)


def is_quiet(descriptor: int) -> bool:
    """Return whether an open file has not been written to for a while; a time in the future counts as quiet."""
    age = time.time() - os.fstat(descriptor).st_mtime
    return not -QUIET_SECONDS < age < QUIET_SECONDS


def find_renamed(identity: FileIdentity, folder: Path, limits: WorkerLimits) -> int | None:
    """Open the file with this inode and content that was renamed within its folder."""
    for one in _candidates(folder, limits, lambda entry: entry.inode() == identity.inode):
        if identity.is_same_inode(one) and identity.has_same_start(one):
            return one
        close(one)
    return None


def find_copy(identity: FileIdentity, path: Path, position: int, limits: WorkerLimits) -> int | None:
    """Open the longest copy, named after the file, of its content up to ``position`` or beyond.

    Finds the result of logrotate's ``copytruncate``: ``a.log.1`` next to an ``a.log`` that is short again.
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
