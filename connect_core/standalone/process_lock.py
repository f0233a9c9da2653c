"""Lock that lets only one standalone process at a time use a metadata database in a file."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from connect_core.errors import ConfigError

__all__ = ["ProcessLock"]

_KEY = "offset.storage.file.filename"


@dataclass(slots=True)
class ProcessLock:
    """Held from ``take`` until ``release``, or until the process ends in any way."""

    _descriptor: int

    @classmethod
    def take(cls, database: Path) -> ProcessLock:
        """Take the lock beside a database file. Raises ConfigError if another process has it."""
        place = database.with_name(f"{database.name}.lock")
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise ConfigError(
                _KEY,
                str(database.with_name(database.name.removesuffix(".db"))),
                f"another standalone worker (process {owner}) uses the database next to it; stop that one, or "
                "give this one its own file",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._descriptor)
