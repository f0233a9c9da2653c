"""Files that a connector may access: regular files within the worker's ``file.roots``."""

from __future__ import annotations

import errno
import os
import stat
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError

__all__ = ["AllowedFile", "allowed_folder", "allowed_path", "is_own", "own_places"]

_NEVER = tuple(map(Path, ("/dev", "/proc", "/sys")))
_PACKAGE = Path(__file__).parents[1]
_CODE = (
    _PACKAGE,
    *(_PACKAGE.with_name(name) for name in ("config", "dags", "plugins")),
    *map(Path, (sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))),
)
_ENVIRONMENT = "pyvenv.cfg"
"""Is in the folder of every virtual environment."""
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_SWAPPED = frozenset((errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR))


@dataclass(frozen=True, slots=True)
class AllowedFile:
    """A path within a root, and the setting it comes from.

    ``open`` walks down from the root and follows no symbolic link, so that a link put there after the check is refused.
    """

    key: str
    value: str
    root: Path
    path: Path

    @classmethod
    def resolve(cls, key: str, value: str, limits: WorkerLimits) -> AllowedFile:
        """Follow the links of a path; a relative one begins at the first root.

        Raises ConfigError unless the result is within ``limits.file_roots`` and not one of the worker's own files.
        """
        if not limits.file_roots:
            raise ConfigError(
                key,
                value,
                "this worker does not let connectors access files; set file.roots in its properties to allow folders",
            )
        if not value or "\0" in value:
            raise ConfigError(key, repr(value), "it is not a file path; give one within file.roots")
        path = (limits.file_roots[0] / value).resolve()
        roots = [root.resolve() for root in limits.file_roots]
        root = max((root for root in roots if path.is_relative_to(root)), key=_depth, default=None)
        if root is None or any(path.is_relative_to(place) for place in _NEVER):
            allowed = ", ".join(map(str, limits.file_roots))
            raise ConfigError(
                key,
                value,
                f"{path} is outside the folders that file.roots allows ({allowed}); choose a path there or extend "
                "file.roots",
            )
        place = _own_place(path, root, limits)
        if place is not None:
            raise ConfigError(key, value, f"{path} lies in {place}, which belongs to the worker; {_REMEDY}")
        return cls(key, value, root, path)

    def open(self, flags: int) -> int:
        """Open the file → its descriptor. Raises OSError, or ConfigError if it is not a regular file."""
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
            # O_NONBLOCK: a FIFO put in the file's place must not block the worker.
            return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
        finally:
            os.close(folder)

    def _irregular(self) -> ConfigError:
        return ConfigError(
            self.key, self.value, f"{self.path} is not a regular file; folders, pipes and devices are refused"
        )


_REMEDY = "choose another path, or ask an administrator to add a root within to file.roots"


def _depth(path: Path) -> int:
    return len(path.parts)


def _own_place(path: Path, root: Path, limits: WorkerLimits) -> Path | None:
    """Return the folder of state, settings or code between a root and a path, links followed."""
    between = [place for place in (path, *path.parents) if place.is_relative_to(root) and place != root]
    excluded = _followed(limits.file_excluded)
    return next((place for place in between if place in excluded or _is_private(place)), None)


@lru_cache(16)
def _followed(excluded: tuple[Path, ...]) -> frozenset[Path]:
    """Return the worker's own paths with links followed; cached, as a file is opened at every check."""
    return frozenset(place.resolve() for place in (*excluded, *_CODE))


def _is_private(place: Path) -> bool:
    """Return whether a folder is a virtual environment, or a hidden folder of the home folder."""
    return (place / _ENVIRONMENT).is_file() or (place.name.startswith(".") and place.parent == _home())


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:
        return None


def own_places(limits: WorkerLimits) -> frozenset[Path]:
    """Return the worker's own files and folders, links followed."""
    return _followed(limits.file_excluded)


def is_own(place: Path, own: frozenset[Path]) -> bool:
    """Return whether a file or folder that was found without following links is one of the worker's ``own_places``."""
    return place in own or _is_private(place)


def allowed_folder(key: str, value: str, limits: WorkerLimits) -> Path:
    """Return a folder in which any name may be written, links followed. Raises ConfigError.

    It must contain nothing of the worker's own: its subfolders are named after topics.
    """
    path = AllowedFile.resolve(key, value, limits).path
    for place in sorted(_followed(limits.file_excluded)):
        if place.is_dir() and place.is_relative_to(path):
            raise ConfigError(
                key, value, f"{path} contains {place}, which belongs to the worker; use a separate folder"
            )
    return path


def allowed_path(key: str, value: str, limits: WorkerLimits) -> Path:
    """Return a path within ``limits.file_roots``, links followed. Raises ConfigError."""
    return AllowedFile.resolve(key, value, limits).path
