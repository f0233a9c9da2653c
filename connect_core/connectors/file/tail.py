"""Follows one file as it grows, is rotated away or truncated."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.connectors.file.identity import FileIdentity
from connect_core.connectors.file.lines import Lines, end_of_last_line, split, whole_line
from connect_core.errors import ConnectError

__all__ = ["FileTail", "Pending"]

_BLOCK = 8 * 1024 * 1024
_LOOK_BACK = 64 * 1024
_LONGEST_LINE = 1 << 30
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pending:
    """Where the complete lines of a file end now; ``is_restart``: not the file the position belongs to."""

    end: int
    is_restart: bool


@dataclass(slots=True)
class FileTail:
    """Reads complete lines from ``position`` on, at most up to ``bound``.

    With the identity kept beside the position, a file that was renamed in its
    folder is read to its end before the new file begins at 0; a file that is
    shorter, or begins otherwise, is a new one. The bound is one of the file that
    now has the name.
    """

    value: str
    limits: WorkerLimits
    position: int = 0
    identity: FileIdentity | None = None
    bound: int | None = None
    block: int = _BLOCK
    _descriptor: int | None = None
    _is_rotated: bool = False
    _is_restarted: bool = False
    _seen: tuple[int, int] = field(default=(-1, -1))

    def read(self) -> Lines | None:
        """Return the next complete lines of one file, or ``None`` when there are none."""
        while self._is_open():
            is_replaced = self._is_replaced()
            lines = self._read_lines()
            if lines is not None or not is_replaced:
                return lines
            rest = self._read_rest()
            if len(rest):
                return rest
            self._turn()
        return None

    def pending(self) -> Pending | None:
        """Return where the lines end that can be read now, ``None`` without a file."""
        if not self._is_open():
            return None
        if not self._is_rotated:
            return Pending(self._end_of_lines(), self._is_restarted)
        successor = FileTail(self.value, self.limits)
        try:
            fresh = successor.pending()
        finally:
            successor.close()
        rest = self._end_of_lines()
        if fresh is not None and fresh.end:
            return Pending(fresh.end, True)
        return Pending(rest, False)

    def state(self) -> dict[str, str] | None:
        """Return the identity of the file at the present position."""
        return None if self._descriptor is None else FileIdentity.of(self._descriptor, self.position).to_state()

    @property
    def is_at_bound(self) -> bool:
        """Whether the bound is reached: nothing more is to be read."""
        return self.bound is not None and not self._is_rotated and self.position >= self.bound

    def close(self) -> None:
        """Close the file; the next ``read`` would open it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_open(self) -> bool:
        if self._descriptor is None:
            self._open()
        return self._descriptor is not None

    def _open(self) -> None:
        file = AllowedFile.resolve("file", self.value, self.limits)
        current = _opened(file)
        known = self.identity
        if known is None or (current is not None and known.is_same_inode(current)):
            self._begin(current)
            return
        rotated = _find(known, file.path.parent, self.limits)
        if rotated is not None:
            _close(current)
            _LOG.info("%s was renamed: reading the rest of it first", file.path)
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
        _LOG.info(
            "%s holds other lines than those read up to byte %d: reading it from its start", self.value, self.position
        )
        self._turn_back()

    def _turn_back(self) -> None:
        self.position, self.identity, self._seen, self._is_restarted = 0, None, (-1, -1), True

    def _read_lines(self) -> Lines | None:
        """Read a block, larger ones while no line ends in it."""
        assert self._descriptor is not None
        size = self.block
        while True:
            limit = self._limit()
            if limit <= self.position or (self.position, limit) == self._seen:
                return None
            # One byte more than the bound: it tells whether a last carriage return stands alone.
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
        """Read what follows the last complete line of a file that has lost its name."""
        assert self._descriptor is not None
        data = os.pread(self._descriptor, self._limit() - self.position, self.position)
        self.position += len(data)
        return whole_line(data)

    def _limit(self) -> int:
        assert self._descriptor is not None
        size = os.fstat(self._descriptor).st_size
        if size < self.position:
            self._restart()
        return size if self.bound is None or self._is_rotated else min(size, self.bound)

    def _larger(self, size: int) -> int:
        if size >= _LONGEST_LINE:
            raise ConnectError(
                f"{self.value} has a line of more than {_LONGEST_LINE} bytes at byte {self.position}: "
                "it is no text file; choose another, or set the connector's offset behind that line"
            )
        return size * 2

    def _is_replaced(self) -> bool:
        """Return whether another file has taken the name and is being written."""
        assert self._descriptor is not None
        if self.bound is not None and not self._is_rotated:
            return False
        try:
            there = AllowedFile.resolve("file", self.value, self.limits).path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(self._descriptor)
        return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino) and there.st_size > 0

    def _turn(self) -> None:
        """Leave a file read to its end for the one that has its name."""
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


def _opened(file: AllowedFile) -> int | None:
    """Open for reading; ``None`` while there is no such file. Raises ConnectError."""
    try:
        return file.open(os.O_RDONLY)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ConnectError(f"{file.path} cannot be read: let the worker's user read it") from error


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def _find(identity: FileIdentity, folder: Path, limits: WorkerLimits) -> int | None:
    """Open the file of this inode and start that was renamed within its folder."""
    with os.scandir(folder) as entries:
        names = [
            entry.name for entry in entries if entry.inode() == identity.inode and entry.is_file(follow_symlinks=False)
        ]
    for name in names:
        descriptor = _opened(AllowedFile.resolve("file", str(folder / name), limits))
        if descriptor is None:
            continue
        if identity.is_same_inode(descriptor) and identity.has_same_start(descriptor):
            return descriptor
        os.close(descriptor)
    return None
