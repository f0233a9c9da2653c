"""Folders private to this user, in a folder that all users share."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from connect_core.errors import ConnectError

__all__ = ["is_private_file", "private_folder"]

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def private_folder(name: str) -> Path:
    """Return ``connect-NAME-UID`` in the temporary folder, accessible to its owner only.

    Another user may have taken that name: raise ConnectError for a link, another
    user's folder, and one that others may write to. If others may only read it,
    their access is removed.
    """
    folder = Path(tempfile.gettempdir(), f"connect-{name}-{os.geteuid()}")
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _check(folder)
    except OSError as error:
        raise ConnectError(f"Cannot create {folder}: {error.strerror}. Set TMPDIR to a writable folder.") from error
    return folder


def _check(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        why = "is not a folder"
    elif found.st_uid != os.geteuid():
        why = f"belongs to user {found.st_uid}"
    elif found.st_mode & _WRITTEN_BY_OTHERS:
        why = f"has mode {stat.S_IMODE(found.st_mode):04o}, so others may write to it"
    else:
        folder.chmod(0o700)
        return
    raise ConnectError(
        f"{folder} {why}: it may contain another user's files. Remove it, or set TMPDIR to a folder of your own."
    )


def is_private_file(path: Path) -> bool:
    """Return whether only this user can have written a file; false for a link."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS
