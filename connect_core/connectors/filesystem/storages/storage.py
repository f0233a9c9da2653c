"""The contract of storages.

The sink writes each file once, invisible, and names it in the interval's manifest; publication makes it visible. How a
file is kept invisible depends on the storage:

- a file system writes into the control folder and renames;
- an object store may begin an upload under the final name and leave it uncompleted: the data is written once, and
  readers see a whole object or none. What is needed to complete it (upload id, etags of its parts) is the ``Held``
  value, which is stored in the manifest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
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
"""A finished invisible file, as JSON: all that any driver needs to publish it. It has ``size`` in bytes."""


class Output(Protocol):
    """A new file open for writing; also a file object for the writers of formats."""

    closed: bool

    def write(self, data: bytes, /) -> int:
        """Append all bytes. Raises ConnectError."""

    def tell(self) -> int:
        """Return the number of bytes written."""

    def seekable(self) -> bool:
        """Return false: bytes are appended."""

    def flush(self) -> None:
        """Do nothing that matters: file objects must have this method."""

    def close(self) -> None:
        """Do nothing: a format's writer closes its output, and the sink calls ``finish``."""

    def seal(self) -> None:
        """End writing; ``finish`` follows at the interval's end. Keep no file open meanwhile.

        Raises ConnectError, but no RetriableError: the current rows were added, and must not come again.
        """

    def finish(self, final: str = "") -> Held:
        """Make the file durable, still invisible, and close it.

        Raises ConnectError; after a RetriableError it may be called again.

        final: the only name under which it can be published; empty if that is not known yet, or if the driver may have
        to read the file. Only with a name may a store leave an upload uncompleted, which nobody can read.
        """

    def discard(self) -> None:
        """Close the file, finished or not; an unfinished one may remain until it is swept."""


class Staging(Protocol):
    """The unpublished files of one interval."""

    def create(self, name: str, expected: str) -> Output:
        """Create a file. Raises FileExistsError if the name was ever used before; ``finish`` may raise it instead.

        name: its path within the staging folder; expected: its final name, unless the interval ends early or a file is
        made of several, so that a store may start the upload under it.
        """

    def open(self, held: Held) -> BinaryIO:
        """Open a finished file for reading; the driver needs it to combine several files.

        Raises RetriableError for an uncompleted upload: when the interval is run again, its files can be read.
        """

    def publish(self, held: Held, final: str) -> None:
        """Make a file visible under a name within the root, replacing an existing one.

        Idempotent, and safe if several drivers do it at once: a file that is in place already, by size and content, is
        done. Raises ConnectError if the file is neither staged nor in place.
        """


class Storage(ABC):
    """A root of files. Names are relative to it, with ``/`` between their parts.

    Created by ``open`` on the driver and on each worker; has no state that others must see.
    """

    definition = ConfigDef()
    """The settings it adds to those of the sink; ``open`` and ``locate`` read them from the configuration."""
    after_commit: frozenset[str] = frozenset({"leave"})
    """What its ``open_source`` can do with files that were read."""
    replaces: ClassVar[bool] = False
    """Whether a backfill's files can replace earlier ones: ``published`` returns sizes, and once the folder of
    ``staging`` is removed, ``publish`` never replaces a later file, wherever it was suspended before.
    """
    control: ControlStore
    """The store of manifests, epochs and owners, with a conditional create."""
    requests_at_once = 1
    """How many threads may publish, mark and unmark at the same time."""

    @classmethod
    @abstractmethod
    def open(cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> Storage:
        """Return the storage of a URL. Raises ConfigError for one that may not be written.

        At work it is a RetriableError: a temporary refusal must not require a person.
        """

    @classmethod
    @abstractmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return the location of a URL as a text that is unique to it; calls no server. Raises ConfigError."""

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> SourceFiles:
        """Return the files of a URL, for reading. Raises ConfigError for one that may not be read."""
        raise ConfigError("path", url, "files of this storage can only be written; copy them to another storage")

    @property
    @abstractmethod
    def root(self) -> Path:
        """The root: absolute on a file system, the prefix in a bucket."""

    def address(self, name: str) -> str:
        """Return where readers find a file: a path or a URL."""
        return str(self.root / name)

    def published(self) -> PublishedFiles | None:
        """Return the published files for reading, ``None`` if this storage cannot: then nothing is recounted."""
        return None

    @abstractmethod
    def staging(self, folder: Path) -> Staging:
        """Return the staged files of a folder, which ``control`` removes when the interval is over."""

    def check_visible(self, folder: Path, held: Sequence[Held]) -> None:
        """Raise RetriableError unless the driver sees the staged files of a folder: of a store, all machines do."""

    @abstractmethod
    def settle(self, names: Collection[str]) -> None:
        """Make the publication of files of these names durable."""

    @abstractmethod
    def mark(self, name: str) -> None:
        """Write an empty file durably, replacing an existing one: ``_SUCCESS``."""

    @abstractmethod
    def unmark(self, name: str) -> None:
        """Remove the file of ``mark``, if it exists."""
