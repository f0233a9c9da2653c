"""Files a connector may touch: regular ones within the worker's ``file.roots``."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError

__all__ = ["AllowedFile", "allowed_path"]

_NEVER = tuple(map(Path, ("/dev", "/proc", "/sys")))
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_SWAPPED = frozenset((errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR))


@dataclass(frozen=True, slots=True)
class AllowedFile:
    """A path that was found within a root, and the setting it comes from.

    ``open`` walks down from the root and follows no symbolic link on the way,
    so that a link put there after the check is refused, not followed.
    """

    key: str
    value: str
    root: Path
    path: Path

    @classmethod
    def resolve(cls, key: str, value: str, limits: WorkerLimits) -> AllowedFile:
        """Follow the links of a path; a relative one begins at the first root.

        Raises ConfigError unless it ends within ``limits.file_roots``.
        """
        if not limits.file_roots:
            raise ConfigError(
                key,
                value,
                "this worker lets no connector touch files; set file.roots in its properties to allow folders",
            )
        if not value or "\0" in value:
            raise ConfigError(key, repr(value), "it is no path of a file; give one within file.roots")
        path = (limits.file_roots[0] / value).resolve()
        roots = [root.resolve() for root in limits.file_roots]
        root = next((root for root in roots if path.is_relative_to(root)), None)
        if root is None or any(path.is_relative_to(place) for place in _NEVER):
            allowed = ", ".join(map(str, limits.file_roots))
            raise ConfigError(
                key,
                value,
                f"{path} lies outside what file.roots allows ({allowed}); choose a path there or extend file.roots",
            )
        return cls(key, value, root, path)

    def open(self, flags: int) -> int:
        """Open the file → its descriptor. Raises OSError, or ConfigError if it is no regular file."""
        try:
            descriptor = self._open_beneath(flags)
        except OSError as error:
            if error.errno in _SWAPPED:
                raise self._irregular() from error
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._irregular()
        return descriptor

    def _open_beneath(self, flags: int) -> int:
        *folders, name = self.path.relative_to(self.root).parts or (".",)
        folder = os.open(self.root, _FOLDER)
        try:
            for part in folders:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            # O_NONBLOCK: a FIFO put in the file's place must not hang the worker.
            return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
        finally:
            os.close(folder)

    def _irregular(self) -> ConfigError:
        return ConfigError(
            self.key, self.value, f"{self.path} is no regular file; folders, pipes and devices are refused"
        )


def allowed_path(key: str, value: str, limits: WorkerLimits) -> Path:
    """Return a path within ``limits.file_roots``, links followed. Raises ConfigError."""
    return AllowedFile.resolve(key, value, limits).path
