"""Follows one file as it grows, is rotated or truncated."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.file.identity import FileIdentity
from connect_core.connectors.file.lines import Lines, end_of_last_line, split, whole_line
from connect_core.connectors.file.predecessor import QUIET_SECONDS, close, find_copy, find_renamed, is_quiet, opened
from connect_core.errors import ConnectError

__all__ = ["FileTail", "Pending"]

_BLOCK = 8 * 1024 * 1024
_LOOK_BACK = 64 * 1024
_LONGEST_LINE = 1 << 30
_GAPS = "gaps"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pending:
    """Where the complete lines of a file end now; ``is_restart``: it is not the file that the position belongs to."""

    end: int
    is_restart: bool


@dataclass(slots=True)
class FileTail:
    """Reads complete lines from ``position`` on, at most up to ``bound``.

    With the identity stored with the position, a file that was renamed in its folder is read until it has not been
    written to for ``QUIET_SECONDS``, before the new file is read from 0; a file that is shorter, or begins differently,
    is a new one, before which the rest of the old one is read if a copy contains it. The bound belongs to the file that
    has the name now. ``gaps``: how often the file was replaced and it was unknown whether all of the old one had been
    read.
    """

    value: str
    limits: WorkerLimits
    position: int = 0
    identity: FileIdentity | None = None
    bound: int | None = None
    block: int = _BLOCK
    gaps: int = 0
    _descriptor: int | None = None
    _is_rotated: bool = False
    _is_restarted: bool = False
    _seen: tuple[int, int] = field(default=(-1, -1))

    @classmethod
    def resumed(
        cls,
        value: str,
        limits: WorkerLimits,
        position: int | None,
        state: Mapping[str, str] | None,
        bound: int | None = None,
    ) -> FileTail:
        """Return the tail that continues from a committed position and its stored state."""
        gaps = int((state or {}).get(_GAPS, "0"))
        return cls(value, limits, position or 0, FileIdentity.from_state(state), bound, gaps=gaps)

    def read(self) -> Lines | None:
        """Return the next complete lines of one file, or ``None`` when there are none."""
        while self._is_open():
            # Checked before reading: lines written in between are read, and the check is repeated.
            is_left = self._is_replaced() and is_quiet(self._opened)
            lines = self._read_lines()
            if lines is not None or not is_left:
                return lines
            rest = self._read_rest()
            if len(rest):
                return rest
            self._turn()
        return None

    def pending(self) -> Pending | None:
        """Return the end of the lines that can be read now, ``None`` without a file."""
        if not self._is_open():
            return None
        if not self._is_rotated:
            return Pending(self._end_of_lines(), self._is_restarted)
        rest = self._end_of_lines()
        if not is_quiet(self._opened):
            return Pending(rest, False)
        successor = FileTail(self.value, self.limits)
        try:
            fresh = successor.pending()
        finally:
            successor.close()
        if fresh is not None and fresh.end:
            return Pending(fresh.end, True)
        return Pending(rest, False)

    def state(self) -> dict[str, str] | None:
        """Return the identity of the file at the current position, and the number of gaps if there are any."""
        if self._descriptor is None:
            return None
        if self.identity is None or os.fstat(self._descriptor).st_size >= self.position:
            # For a file that was truncated meanwhile, the last identity finds the copy.
            self.identity = FileIdentity.of(self._descriptor, self.position)
        gaps = {_GAPS: str(self.gaps)} if self.gaps else {}
        return {**self.identity.to_state(), **gaps}

    @property
    def is_at_bound(self) -> bool:
        """Whether the bound is reached: nothing more is to be read."""
        return self.bound is not None and not self._is_rotated and self.position >= self.bound

    def close(self) -> None:
        """Close the file; the next ``read`` would open it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def _opened(self) -> int:
        assert self._descriptor is not None
        return self._descriptor

    def _is_open(self) -> bool:
        if self._descriptor is None:
            self._open()
        return self._descriptor is not None

    def _open(self) -> None:
        file = AllowedFile.resolve("file", self.value, self.limits)
        current = opened(file)
        known = self.identity
        if known is None or (current is not None and known.is_same_inode(current)):
            self._begin(current)
            return
        rotated = find_renamed(known, file.path.parent, self.limits)
        if rotated is not None:
            close(current)
            _LOG.info("%s was renamed: reading it first, until it is quiet for %g s", file.path, QUIET_SECONDS)
            self._descriptor, self._is_rotated = rotated, True
            return
        if current is not None:
            self._begin(current)

    def _begin(self, descriptor: int | None) -> None:
        self._descriptor, self._is_rotated = descriptor, False
        if descriptor is None or self.position == 0:
            return
        known = self.identity
        is_shorter = os.fstat(descriptor).st_size < self.position
        if is_shorter or (known is not None and not known.has_same_start(descriptor)):
            self._restart()

    def _restart(self) -> None:
        """Continue in a copy that has the file's earlier content, else at the file's start."""
        path = AllowedFile.resolve("file", self.value, self.limits).path
        copy = None if self.identity is None else find_copy(self.identity, path, self.position, self.limits)
        if copy is None:
            self.gaps += 1
            # An empty file has nothing to read yet, and this is called every second.
            _LOG.log(
                logging.WARNING if os.fstat(self._opened).st_size else logging.DEBUG,
                "%s does not contain the lines read up to byte %d, and its folder has no copy of them: it is read"
                " from its start; anything that followed those lines is not read (%d times so far)",
                path,
                self.position,
                self.gaps,
            )
            self._turn_back()
        elif os.fstat(copy).st_size == self.position:
            close(copy)
            self._turn_back()
        else:
            _LOG.info("%s was copied and truncated: reading the rest of the copy first", path)
            close(self._descriptor)
            self._descriptor, self._is_rotated, self._seen = copy, True, (-1, -1)

    def _turn_back(self) -> None:
        self.position, self.identity, self._seen, self._is_restarted = 0, None, (-1, -1), True

    def _read_lines(self) -> Lines | None:
        """Read a block, and larger ones until it contains the end of a line."""
        assert self._descriptor is not None
        size = self.block
        while True:
            limit = self._limit()
            if limit <= self.position or (self.position, limit) == self._seen:
                return None
            # One byte beyond the bound: it shows whether a last carriage return is followed by a newline.
            data = os.pread(self._descriptor, min(size, limit - self.position + 1), self.position)
            lines = split(data).up_to(limit - self.position)
            if len(lines):
                self.position += int(lines.nexts[-1])
                return lines
            if len(data) < size:
                self._seen = (self.position, limit)
                return None
            size = self._larger(size)

    def _read_rest(self) -> Lines:
        """Read what follows the last complete line of a rotated file."""
        limit = self._limit()
        data = os.pread(self._opened, limit - self.position, self.position)
        self.position += len(data)
        return whole_line(data)

    def _limit(self) -> int:
        assert self._descriptor is not None
        size = os.fstat(self._descriptor).st_size
        if size < self.position:
            self._restart()
            size = os.fstat(self._descriptor).st_size
        return size if self.bound is None or self._is_rotated else min(size, self.bound)

    def _larger(self, size: int) -> int:
        if size >= _LONGEST_LINE:
            raise ConnectError(
                f"{self.value} has a line of more than {_LONGEST_LINE} bytes at byte {self.position}: "
                "it is not a text file; choose another, or set the connector's offset behind that line"
            )
        return size * 2

    def _is_replaced(self) -> bool:
        """Return whether another file has the name now and is not empty."""
        if self.bound is not None and not self._is_rotated:
            return False
        try:
            there = AllowedFile.resolve("file", self.value, self.limits).path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(self._opened)
        return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino) and there.st_size > 0

    def _turn(self) -> None:
        """Switch from a file read to its end to the one that now has its name."""
        self.close()
        self._is_rotated = False
        self._turn_back()

    def _end_of_lines(self) -> int:
        assert self._descriptor is not None
        size = os.fstat(self._descriptor).st_size
        end = size
        while end > self.position:
            begin = max(self.position, end - _LOOK_BACK)
            found = end_of_last_line(os.pread(self._descriptor, end - begin, begin), end == size)
            if found is not None:
                return begin + found
            end = begin
        return self.position
