"""A file written on this machine: only at its end are size, hash and name known; then it is uploaded."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

from connect_core.connectors.filesystem.storages.storage import Held
from connect_core.errors import ConnectError

__all__ = ["Content", "Output", "Spool"]

_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Content:
    """A finished file: its bytes in a temporary file, and its hash."""

    file: IO[bytes]
    start: int
    size: int
    sha256: str

    def pieces(self, size: int) -> Iterator[bytes]:
        """Return the bytes in pieces of this size."""
        for first in range(0, self.size, size):
            yield self.read(first, min(size, self.size - first))

    def read(self, first: int = 0, size: int | None = None) -> bytes:
        """Return bytes from a position on. Raises ConnectError."""
        wanted, data = self.size if size is None else size, bytearray()
        while len(data) < wanted:
            some = os.pread(self.file.fileno(), wanted - len(data), self.start + first + len(data))
            if not some:
                raise ConnectError(f"a temporary file in {tempfile.gettempdir()} was truncated")
            data += some
        return bytes(data)


Upload: TypeAlias = Callable[[str, Content, str], Held]
"""Uploads a file, given its name within the staging folder, its content and its final name."""


class Spool:
    """One temporary file for any number of sealed files."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def take(self, content: Content) -> Content:
        """Append a file. Raises OSError."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        start = self._file.seek(0, os.SEEK_END)
        for piece in content.pieces(_BLOCK):
            self._file.write(piece)
        self._file.flush()
        return Content(self._file, start, content.size, content.sha256)


class Output:
    """Appends to an unnamed temporary file, which disappears with this process."""

    closed = False

    def __init__(self, name: str, spool: Spool, upload: Upload) -> None:
        self._name, self._spool, self._upload = name, spool, upload
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._digest: Any = hashlib.sha256()
        self._size = 0
        self._tries = 0
        self._sealed: Content | None = None

    def write(self, data: bytes, /) -> int:
        """Append bytes. Raises ConnectError; ValueError once closed."""
        view = memoryview(data).cast("B")
        try:
            self._file.write(view)
        except OSError as error:
            raise self._failed(error) from error
        self._digest.update(view)
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._size

    def seekable(self) -> bool:
        """Return false: the file can only be appended to."""
        return False

    def flush(self) -> None:
        """Do nothing: ``finish`` flushes."""

    def close(self) -> None:
        """Do nothing: a format's writer closes its output, but ``finish`` must close the file."""

    def seal(self) -> None:
        """Move the bytes to the file of all sealed ones. Raises ConnectError."""
        try:
            self._sealed = self._spool.take(self._content())
        except OSError as error:
            raise self._failed(error) from error
        self._file.close()

    def finish(self, final: str = "") -> Held:
        """Upload the file and close it. Raises ConnectError; FileExistsError for a name that was used before."""
        try:
            content = self._sealed or self._content()
        except OSError as error:
            raise self._failed(error) from error
        # A new name for each try: an earlier one may have left an incomplete upload.
        name = f"{self._name}~{self._tries}" if self._tries else self._name
        self._tries += 1
        held = self._upload(name, content, final)
        self.discard()
        return held

    def discard(self) -> None:
        """Close the file, finished or not."""
        self.closed = True
        self._file.close()

    def _content(self) -> Content:
        self._file.flush()
        return Content(self._file, 0, self._size, self._digest.hexdigest())

    def _failed(self, error: OSError) -> ConnectError:
        return ConnectError(f"{tempfile.gettempdir()} cannot hold {self._name} until it is uploaded: {error}")
