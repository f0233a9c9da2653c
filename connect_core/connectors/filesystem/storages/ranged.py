"""An object as a file: each read requests a range of bytes from the store."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

__all__ = ["ranged"]

_PIECE = 1024 * 1024


def ranged(size: int, read: Callable[[int, int], bytes]) -> BinaryIO:
    """Return a seekable file of ``size`` bytes; ``read(start, length)`` returns at least one of them."""
    return cast(BinaryIO, io.BufferedReader(_Ranged(size, read), _PIECE))


class _Ranged(io.RawIOBase):
    def __init__(self, size: int, read: Callable[[int, int], bytes]) -> None:
        self._size, self._read, self._at = size, read, 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position → the new position."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer → the number of bytes read."""
        view = memoryview(buffer).cast("B")
        wanted = min(len(view), self._size - self._at)
        if wanted <= 0:
            return 0
        data = self._read(self._at, wanted)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
