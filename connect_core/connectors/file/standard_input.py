"""Lines of the standard input, read without blocking for long."""

from __future__ import annotations

import os
import select
from dataclasses import dataclass

from connect_core.connectors.file.lines import Lines, split

__all__ = ["StandardInput"]

_BLOCK = 64 * 1024


@dataclass(slots=True)
class StandardInput:
    """Returns complete lines as they arrive; a last line without a terminator is held back."""

    descriptor: int
    _kept: bytes = b""

    def read(self, count: int, seconds: float) -> Lines:
        """Return at most ``count`` lines; waits at most this long for the first bytes."""
        lines = split(self._kept)
        if not len(lines):
            self._kept += self._more(seconds)
            lines = split(self._kept)
        first, _ = lines.take(count)
        if len(first):
            self._kept = self._kept[int(first.nexts[-1]) :]
        return first

    def _more(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        data = os.read(self.descriptor, _BLOCK) if ready else b""
        if ready and not data:
            # The input has ended: it is always readable, but empty.
            select.select([], [], [], seconds)
        return data
