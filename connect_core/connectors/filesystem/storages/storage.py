"""What a place for files can do: the contract of storages.

The sink writes each file once, invisible, and names it in the interval's manifest; publication makes it visible. How
a file is kept invisible is the storage's own business:

- a file system writes below the control folder and renames;
- an object store may begin an upload under the final name and leave it uncompleted: the data is written once, readers
  see a whole object or none. What completing it takes (upload id, etags of its parts) is the ``Held`` value, which the
  manifest keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol, TypeAlias

from connect_core.api.config import ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.control_store import ControlStore
from connect_core.connectors.filesystem.storages.published import PublishedFiles
from connect_core.connectors.filesystem.storages.source_files import SourceFiles
from connect_core.errors import ConfigError

__all__ = ["Held", "Output", "Staging", "Storage"]

Held: TypeAlias = Mapping[str, Any]
"""A finished invisible file, as JSON: all that its publication needs, by whatever driver. It has ``size`` in bytes."""


class Output(Protocol):
    """A new file open for writing; also a file object for the writers of formats."""

    closed: bool

    def write(self, data: bytes, /) -> int:
        """Append bytes, all of them. Raises ConnectError."""

    def tell(self) -> int:
        """Return how many bytes are written."""

    def seekable(self) -> bool:
        """Return false: bytes are appended."""

    def flush(self) -> None:
        """Do what file objects must be able to do; nothing depends on it."""

    def close(self) -> None:
        """Do nothing: a format's writer closes what it was given, the sink calls ``finish``."""

    def seal(self) -> None:
        """Say that nothing more is written; ``finish`` comes with the interval's end. Keep no file open meanwhile.

        Raises ConnectError, yet no RetriableError: the rows in hand were taken, and must not come again.
        """

    def finish(self, final: str = "") -> Held:
        """Make the file durable, still invisible, and close it.

        Raises ConnectError; after a RetriableError it may be called again.

        final: the one name it can be published under; empty where that is not known yet, or where the driver may have
        to read the file. Only with a name may a store hold an upload back that nobody can read.
        """

    def discard(self) -> None:
        """Close the file, finished or not; what was never finished may stay until it is swept."""


class Staging(Protocol):
    """The files of one interval that are not published yet."""

    def create(self, name: str, expected: str) -> Output:
        """Begin a file. Raises FileExistsError where the name is taken, or ``finish`` does: it is unique for ever.

        name: its path below the staging folder; expected: the name it will have, unless the interval ends early or a
        file is made of several, so that a store may hold the upload under it.
        """

    def open(self, held: Held) -> BinaryIO:
        """Open a finished file for reading; the driver needs it to make one file of several.

        Raises RetriableError for an upload that was held back: when the interval is run again its files can be read.
        """

    def publish(self, held: Held, final: str) -> None:
        """Make a file visible under a name below the root, in place of what is there.

        Idempotent, and safe when several drivers do it at once: what is in place already, by size and content, is
        done. Raises ConnectError where the file is neither staged nor in place.
        """


class Storage(ABC):
    """A root below which files lie. Names are relative to it, with ``/`` between their parts.

    Made by ``open`` on the driver and on each worker; holds no state that others must see.
    """

    definition = ConfigDef()
    """The settings it adds to those of the sink; ``open`` and ``locate`` read them from the configuration."""
    after_commit: frozenset[str] = frozenset({"leave"})
    """What its ``open_source`` can do with files that were read."""
    replaces: ClassVar[bool] = False
    """Whether a backfill's files can take the place of earlier ones: ``published`` tells sizes, and once the folder
    of ``staging`` is removed ``publish`` puts nothing in place of a later file, wherever it slept before."""
    control: ControlStore
    """Where manifests, epochs and owners are kept: a store with a conditional create."""
    requests_at_once = 1
    """How many threads may publish, mark and unmark at the same time."""

    @classmethod
    @abstractmethod
    def open(cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> Storage:
        """Return the storage of a URL. Raises ConfigError for one that may not be written.

        At work that is a RetriableError: what is refused for a while must not need a person afterwards.
        """

    @classmethod
    @abstractmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return the place of a URL as a text that tells it from all others; asks no server. Raises ConfigError."""

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> SourceFiles:
        """Return the files below a URL, to read. Raises ConfigError for one that may not be read."""
        raise ConfigError("path", url, "files of this storage can be written only; copy them to another")

    @property
    @abstractmethod
    def root(self) -> Path:
        """The root: absolute on a file system, the prefix in a bucket."""

    def address(self, name: str) -> str:
        """Return where readers find a file: a path, or its URL."""
        return str(self.root / name)

    def published(self) -> PublishedFiles | None:
        """Return the published files for reading, ``None`` where this storage cannot: nothing is recounted then."""
        return None

    @abstractmethod
    def staging(self, folder: Path) -> Staging:
        """Return what is staged below a folder that ``control`` removes when the interval is over."""

    @abstractmethod
    def settle(self, names: Collection[str]) -> None:
        """Make it durable that files of these names were published."""

    @abstractmethod
    def mark(self, name: str) -> None:
        """Write an empty file, durably, in place of what is there: ``_SUCCESS``."""

    @abstractmethod
    def unmark(self, name: str) -> None:
        """Remove what ``mark`` wrote, if it is there."""
