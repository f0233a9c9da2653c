"""New files that are written once, with size and hash known when they are closed."""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from connect_core.connectors.link_free import open_file
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["StagedFile", "Written", "check_visible", "verify"]


@dataclass(frozen=True, slots=True)
class Written:
    """A closed, durable file."""

    path: Path
    size: int
    sha256: str


class StagedFile:
    """A new file open for writing; also a file object for writers of formats.

    Raises FileExistsError if the path exists: staging paths are unique.
    """

    closed = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> int:
        """Append all bytes. Raises ConnectError; ValueError once closed."""
        if self.closed:
            raise ValueError(f"{self.path} is closed")
        view = memoryview(data).cast("B")
        try:
            _write_all(self._descriptor, view)
        except OSError as error:
            raise ConnectError(f"{self.path} cannot be written: {error}") from error
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
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        """Do nothing: a format's writer closes its output, but ``finish`` must close the file."""

    def finish(self) -> Written:
        """Make the file durable and close it."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise ConnectError(f"{self.path} cannot be made durable: {error}") from error
        self.discard()
        return Written(self.path, self._size, self._digest.hexdigest())

    def discard(self) -> None:
        """Close the file, finished or not."""
        if not self.closed:
            self.closed = True
            os.close(self._descriptor)


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def check_visible(path: Path, key: str, value: str) -> None:
    """Raise RetriableError, naming the setting, unless this machine has a file that a task has staged.

    To be called before a manifest names the file: what is committed must be there to be published.
    """
    if not path.exists():
        remedy = (
            "the driver and all Spark workers must have the same folder there: mount it on all of them, or write to an "
            "object store"
        )
        text = f"a task has written {path}, and the driver's machine {socket.gethostname()} has no such file; {remedy}"
        raise RetriableError(str(ConfigError(key, value, text)))


def verify(path: Path, size: int, sha256: str) -> None:
    """Raise ConnectError unless the file exists with this size and hash."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        found = None
    if found != (size, sha256):
        what = "is missing" if found is None else "is not what was staged"
        raise ConnectError(
            f"{path} {what}, yet the interval's manifest names it ({size} bytes), so that nothing is published; "
            "restore the file, or delete the manifest to export the interval again"
        )
