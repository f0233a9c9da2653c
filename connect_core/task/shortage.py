"""Temporary shortages of the machine, whichever code meets them.

Lack of memory, threads, open files or disk space, a file size limit, a disk that fails to respond.
"""

from __future__ import annotations

import errno

__all__ = ["is_shortage"]

_ERRNOS = frozenset(
    {
        errno.ENOMEM,
        errno.EAGAIN,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.ESTALE,
    }
)
_NO_THREAD = "can't start new thread"


def is_shortage(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, is a shortage of the machine's resources."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _ERRNOS):
            return True
        if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
            return True
        error = error.__cause__
    return False
