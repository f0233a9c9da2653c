"""A folder of HDFS."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.control_store import ControlStore
from connect_core.connectors.filesystem.storages.hdfs.address import CONF_DIR, HdfsAddress
from connect_core.connectors.filesystem.storages.hdfs.client import HdfsClient
from connect_core.connectors.filesystem.storages.hdfs.control import HdfsControlStore
from connect_core.connectors.filesystem.storages.hdfs.source_files import HdfsSource
from connect_core.connectors.filesystem.storages.s3.output import Content, Output, Spool
from connect_core.connectors.filesystem.storages.storage import Held, Storage
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError

__all__ = ["HdfsFiles", "HdfsStaging", "HdfsStorage"]

_KEY = "path"
_TIMEOUT = "hdfs.timeout.ms"
_PIECE = 1024 * 1024


class HdfsStorage(Storage):
    """Stages files in the control folder and renames them: atomic in the NameNode, even over an older file."""

    definition = (
        ConfigDef()
        .define(
            CONF_DIR,
            ConfigType.STRING,
            None,
            importance=Importance.MEDIUM,
            doc="For hdfs://: the folder of Hadoop's core-site.xml and hdfs-site.xml, the same on the driver and all "
            "workers; HADOOP_CONF_DIR if not set.",
        )
        .define(
            _TIMEOUT,
            ConfigType.INT,
            60_000,
            validator=Range.at_least(1000),
            importance=Importance.LOW,
            doc="For hdfs://: how many milliseconds a call waits for a response before it fails and is retried.",
        )
    )
    after_commit = frozenset({"leave", "mark", "move", "delete"})
    replaces = True
    control: ControlStore

    def __init__(self, client: HdfsClient, root: Path) -> None:
        self._client = client
        self._root = root
        self.control = HdfsControlStore(client)

    @classmethod
    def open(
        cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False
    ) -> HdfsStorage:
        """Return the storage of a folder. Raises ConfigError, at work RetriableError."""
        storage = cls(*_opened(url, config, limits))
        try:
            storage._check(url, is_tried=not is_at_work)
        except ConfigError as error:
            raise RetriableError(str(error)) if is_at_work else error from None
        except ConnectError as error:
            raise error if is_at_work else ConfigError(_KEY, url, str(error)) from error
        return storage

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> HdfsSource:
        """Return the files of a folder. Raises ConfigError, also for a host that this worker may not call."""
        return HdfsSource(*_opened(url, config, limits))

    @classmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return NameNode and folder. Raises ConfigError."""
        address = HdfsAddress.of(url, AbstractConfig(cls.definition, config).get_string(CONF_DIR))
        return f"{address.url}{address.folder}"

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    def address(self, name: str) -> str:
        """Return the file's URL."""
        return f"{self._client.url}{self.place(name)}"

    def published(self) -> HdfsFiles:
        """Return the published files."""
        return HdfsFiles(self, self._client)

    def staging(self, folder: Path) -> HdfsStaging:
        """Return the staged files of a folder."""
        return HdfsStaging(self, self._client, folder)

    def settle(self, names: Collection[str]) -> None:
        """Do nothing: the NameNode responds to a rename only once it is in its log."""

    def mark(self, name: str) -> None:
        """Write an empty file: atomic in the NameNode, as it needs no block."""
        self._client.create(self.place(name), overwrite=True).close()

    def unmark(self, name: str) -> None:
        """Remove an empty file, if it exists."""
        self._client.remove(self.place(name))

    def place(self, name: str) -> str:
        """Return the path of a name. Raises DataError if it leaves the root."""
        place = self._root / name
        if ".." in place.parts or not place.is_relative_to(self._root):
            raise DataError(f"{name} is outside {self._root}: nothing is written there")
        return str(place)

    def _check(self, url: str, *, is_tried: bool) -> None:
        """Raise ConfigError unless the root, or its nearest existing parent, is a folder and, if tried, writable."""
        for place in (self._root, *self._root.parents):
            status = self._client.status(str(place))
            if status is None:
                continue
            if not status.isdir:
                raise ConfigError(_KEY, url, f"{place} is not a folder; name another")
            if is_tried:
                trial = str(place / f".{secrets.token_hex(8)}.trial")
                self._client.make_folders(trial)
                self._client.remove(trial)
            return


def _opened(url: str, config: Mapping[str, str], limits: WorkerLimits) -> tuple[HdfsClient, Path]:
    """Return a client and the folder of a URL. Raises ConfigError for a host that is not allowed."""
    parsed = AbstractConfig(HdfsStorage.definition, config)
    address = HdfsAddress.of(url, parsed.get_string(CONF_DIR))
    for host in address.hosts:
        ensure_allowed_host(_KEY, host, limits)
    return HdfsClient(address, (parsed.get_int(_TIMEOUT) or 0) / 1000), Path(address.folder)


@dataclass(frozen=True, slots=True)
class HdfsFiles:
    """The published files, within the folder."""

    storage: HdfsStorage
    client: HdfsClient

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes, ``None`` if it does not exist."""
        status = self.client.status(self.storage.place(name))
        return None if status is None or status.isdir else int(status.length)

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises FileNotFoundError."""
        return cast(BinaryIO, io.BufferedReader(self.client.open(self.storage.place(name)), _PIECE))

    def names(self, folder: str) -> Iterator[str]:
        """Return the files in a folder."""
        for name, is_folder in self.client.entries(self.storage.place(folder)):
            if is_folder:
                yield from self.names(f"{folder}/{name}")
            else:
                yield f"{folder}/{name}"


@dataclass(frozen=True, slots=True)
class HdfsStaging:
    """Staged files within a folder; of each, its name there, size, time of completion and hash are held."""

    storage: HdfsStorage
    client: HdfsClient
    folder: Path
    spool: Spool = field(default_factory=Spool)

    def create(self, name: str, expected: str) -> Output:
        """Create a local file: a failing call must not interrupt ``put``, as its records would come again."""
        return Output(name, self.spool, self._upload)

    def open(self, held: Held) -> BinaryIO:
        """Open a finished file for reading."""
        return cast(BinaryIO, io.BufferedReader(self.client.open(str(self.folder / held["staged"])), _PIECE))

    def publish(self, held: Held, final: str) -> None:
        """Rename a file to its final name, unless that was done."""
        staged, place = str(self.folder / held["staged"]), self.storage.place(final)
        if self.client.status(staged) is None:
            self._verify(place, held)
            return
        self._verify(staged, held)
        self.client.make_folders(place.rpartition("/")[0])
        try:
            self.client.rename(staged, place, overwrite=True)
        except FileNotFoundError:
            # Another driver that recovers the same interval was faster, or this one's response was lost.
            self._verify(place, held)

    def _upload(self, name: str, content: Content, final: str) -> Held:
        place = str(self.folder / name)
        file = self.client.create(place)
        for piece in content.pieces(_PIECE):
            file.write(memoryview(piece))
        file.close()
        status = self.client.status(place)
        if status is None or status.length != content.size:
            raise RetriableError(f"{place} is missing or truncated: {content.size} bytes were written to it")
        return {"staged": name, "size": content.size, "sha256": content.sha256, "modified": status.modification_time}

    def _verify(self, place: str, held: Held) -> None:
        """Raise ConnectError unless a file is the one that was staged.

        A rename does not change its time, which is that of its completion; the file is read only if the time differs.
        """
        status = self.client.status(place)
        if status is not None and status.length == held["size"]:
            is_same = status.modification_time == held["modified"]
            if is_same or self._hash(place) == held["sha256"]:
                return
        what = "is missing" if status is None else "is not what was staged"
        raise ConnectError(
            f"{place} {what}, yet the interval's manifest names it ({held['size']} bytes), so that nothing is "
            "published; restore the file, or delete the manifest to export the interval again"
        )

    def _hash(self, place: str) -> str:
        digest = hashlib.sha256()
        with suppress(FileNotFoundError), io.BufferedReader(self.client.open(place), _PIECE) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest()
