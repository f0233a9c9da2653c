"""A folder of this machine, or of a file system that driver and workers both mount."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from connect_core.api.connector import WorkerLimits
from connect_core.connectors import link_free
from connect_core.connectors.allowed_file import AllowedFile, allowed_folder
from connect_core.connectors.control_store import LOCAL, ControlStore, write_durably
from connect_core.connectors.filesystem.storages.local.source_files import LocalSource
from connect_core.connectors.filesystem.storages.storage import Held, Storage
from connect_core.connectors.staged_file import StagedFile, Written, check_visible, verify
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError

__all__ = ["LocalFiles", "LocalStaging", "LocalStorage"]

_KEY = "path"


class LocalStorage(Storage):
    """Stages files in the control folder and renames them, without following links."""

    control: ControlStore = LOCAL
    after_commit = frozenset({"leave", "mark", "move", "delete"})
    replaces = True

    def __init__(self, root: Path) -> None:
        self._root = root

    @classmethod
    def open(
        cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False
    ) -> LocalStorage:
        """Return the storage of a folder within ``file.roots``. Raises ConfigError, at work RetriableError."""
        folder = allowed_folder(_KEY, url, limits)
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        if not existing.is_dir():
            raise ConfigError(_KEY, url, f"{existing} is not a folder; name another")
        if not os.access(existing, os.W_OK | os.X_OK):
            error = ConfigError(_KEY, url, f"{existing} cannot be written; make the worker's user its owner")
            raise RetriableError(str(error)) if is_at_work else error
        return cls(folder)

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> LocalSource:
        """Return the files of a folder within ``file.roots``, which may not exist yet. Raises ConfigError."""
        folder = allowed_folder(_KEY, url, limits)
        if folder.exists() and not folder.is_dir():
            raise ConfigError(_KEY, url, f"{folder} is not a folder; name the one the files are in")
        if folder.exists() and not os.access(folder, os.R_OK | os.X_OK):
            raise ConfigError(_KEY, url, f"{folder} cannot be read; let the worker's user read it")
        return LocalSource(folder, limits)

    @classmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return the path, links followed. Raises ConfigError."""
        return str(AllowedFile.resolve(_KEY, url, limits).path)

    @property
    def root(self) -> Path:
        """The folder, links followed."""
        return self._root

    def published(self) -> LocalFiles:
        """Return the published files."""
        return LocalFiles(self)

    def staging(self, folder: Path) -> LocalStaging:
        """Return the staged files of a folder."""
        return LocalStaging(self, folder)

    def check_visible(self, folder: Path, held: Sequence[Held]) -> None:
        """Look for the files: a folder of another machine looks the same in the configuration."""
        for one in held:
            check_visible(folder / one["staged"], _KEY, str(self._root))

    def settle(self, names: Collection[str]) -> None:
        """Make the entries of the files' folders durable."""
        for folder in {self.place(name).parent for name in names}:
            link_free.sync_folder(folder)

    def mark(self, name: str) -> None:
        """Write an empty file durably."""
        place = self.place(name)
        link_free.make_folders(place.parent)
        link_free.remove(place)
        write_durably(place, b"")
        link_free.sync_folder(place.parent)

    def unmark(self, name: str) -> None:
        """Remove an empty file, if it exists."""
        link_free.remove(self.place(name))

    def place(self, name: str) -> Path:
        """Return the path of a name. Raises DataError if it leaves the root."""
        place = self._root / name
        if ".." in place.parts or not place.resolve().is_relative_to(self._root.resolve()):
            raise DataError(f"{name} is outside {self._root}: nothing is written there")
        return place


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The published files, within the root; no link is followed."""

    storage: LocalStorage

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes, ``None`` if it does not exist."""
        try:
            with self.open(name) as file:
                return os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            return None

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises FileNotFoundError."""
        try:
            return os.fdopen(link_free.open_file(self.storage.place(name), os.O_RDONLY), "rb")
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(name) from None
        except OSError as error:
            raise ConnectError(f"{self.storage.place(name)} cannot be read: {error.strerror}") from error

    def names(self, folder: str) -> Iterator[str]:
        """Return the files in a folder."""
        for place, _, names in os.walk(self.storage.place(folder)):
            home = Path(place).relative_to(self.storage.root).as_posix()
            yield from (f"{home}/{name}" for name in names)


@dataclass(frozen=True, slots=True)
class LocalStaging:
    """Staged files within a folder; of each, its name there, its size and its hash are held."""

    storage: LocalStorage
    folder: Path

    def create(self, name: str, expected: str) -> _LocalOutput:
        """Create a file."""
        place = self.folder / name
        link_free.make_folders(place.parent)
        return _LocalOutput(place, name)

    def open(self, held: Held) -> BinaryIO:
        """Open a finished file for reading."""
        return os.fdopen(link_free.open_file(self.folder / held["staged"], os.O_RDONLY), "rb")

    def publish(self, held: Held, final: str) -> None:
        """Rename a file to its final name, unless that was done."""
        staged, place = self.folder / held["staged"], self.storage.place(final)
        if not staged.exists():
            verify(place, held["size"], held["sha256"])
            return
        verify(staged, held["size"], held["sha256"])
        link_free.make_folders(place.parent)
        try:
            link_free.rename(staged, place)
        except FileNotFoundError:
            # Another driver that recovers the same interval was faster.
            verify(place, held["size"], held["sha256"])


class _LocalOutput(StagedFile):
    def __init__(self, place: Path, name: str) -> None:
        super().__init__(place)
        self._name = name
        self._written: Written | None = None

    def seal(self) -> None:
        """Make the file durable and close it."""
        self._written = super().finish()

    def finish(self, final: str = "") -> Held:  # type: ignore[override]
        """Make the file durable → its name in the staging folder, size and hash."""
        written = self._written or super().finish()
        return {"staged": self._name, "size": written.size, "sha256": written.sha256}
