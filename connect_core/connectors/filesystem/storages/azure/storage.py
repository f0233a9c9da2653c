"""A folder in a container of Azure Blob Storage, by Hadoop's ``abfss://`` URLs."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from connect_core.api.allowed_url import ensure_allowed_url
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.control_store import ControlStore
from connect_core.connectors.filesystem.storages.azure.client import BLOCK, AzureContainer, AzureLogin
from connect_core.connectors.filesystem.storages.bucket_url import BucketUrl, placed
from connect_core.connectors.filesystem.storages.object_control import ObjectControlStore
from connect_core.connectors.filesystem.storages.object_source import ObjectSource
from connect_core.connectors.filesystem.storages.ranged import ranged
from connect_core.connectors.filesystem.storages.s3.output import Content, Output, Spool
from connect_core.connectors.filesystem.storages.storage import Held, Storage
from connect_core.connectors.worker_login import ensure_clouds_own_host, ensure_listed_place
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["AzureFiles", "AzureStaging", "AzureStorage"]

_KEY = "path"
_FORM = "abfss://container@account.dfs.core.windows.net/folder"
_ACCOUNT_KEY, _SAS, _ENDPOINT = "azure.account.key", "azure.sas.token", "azure.endpoint"
_HOST = re.compile(r"([^@]+)@([a-z0-9]+)\.(?:dfs|blob)\.([a-z0-9.]+)\Z")


class AzureStorage(Storage):
    """Uploads blocks under a file's final name, uncommitted; publication commits them atomically, without a copy.

    A file whose name is not known yet, or that the driver may have to read, is a blob in the control folder; its
    publication sends the bytes again.
    """

    requests_at_once = 8
    replaces = True
    after_commit = frozenset({"leave", "mark", "delete"})
    definition = (
        ConfigDef()
        .define(
            _ACCOUNT_KEY,
            ConfigType.PASSWORD,
            None,
            importance=Importance.MEDIUM,
            doc="For abfss://: the storage account's key; the machine's own identity (DefaultAzureCredential) if "
            "neither key nor token is set.",
        )
        .define(
            _SAS,
            ConfigType.PASSWORD,
            None,
            importance=Importance.MEDIUM,
            doc="For abfss://: a SAS token that may read, add, create, write, delete and list, instead of the key.",
        )
        .define(
            _ENDPOINT,
            ConfigType.STRING,
            None,
            importance=Importance.LOW,
            doc="For abfss://: a different address for the account's blobs, such as an emulator's http://127.0.0.1:10000/account.",
        )
    )
    control: ControlStore

    def __init__(self, container: AzureContainer, root: Path, url: str) -> None:
        self._container = container
        self._root = root
        self._url = url
        self.control = ObjectControlStore(container)

    @classmethod
    def open(
        cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False
    ) -> AzureStorage:
        """Return the storage of a folder. Raises ConfigError, at work RetriableError."""
        container, root = _opened(url, config, limits)
        storage = cls(container, root, "/".join(url.split("/")[:3]))
        try:
            storage._check(is_tried=not is_at_work)
        except ConnectError as error:
            raise error if is_at_work else ConfigError(_KEY, url, str(error)) from error
        return storage

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> ObjectSource:
        """Return the blobs of a folder. Raises ConfigError, also for a host that this worker may not call."""
        container, root = _opened(url, config, limits)
        return ObjectSource(
            root, container.listed, container.piece_of, container.remove, lambda name: container.put(name, b"")
        )

    @classmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return account, container and folder. Raises ConfigError."""
        address, container, root = _address(url, config)
        return f"{address}/{container}/{root.as_posix()}"

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    def address(self, name: str) -> str:
        """Return the blob's URL, in Hadoop's form."""
        return f"{self._url}/{placed(self._root, name)}"

    def published(self) -> AzureFiles:
        """Return the published blobs."""
        return AzureFiles(self._container, self._root)

    def staging(self, folder: Path) -> AzureStaging:
        """Return the staged files of a folder."""
        return AzureStaging(self._container, self._root, folder)

    def settle(self, names: Collection[str]) -> None:
        """Do nothing: the store responds only once a blob is durable."""

    def mark(self, name: str) -> None:
        """Write an empty blob."""
        self._container.put(placed(self._root, name), b"")

    def unmark(self, name: str) -> None:
        """Remove an empty blob, if it exists."""
        self._container.remove(placed(self._root, name))

    def _check(self, *, is_tried: bool) -> None:
        self.control.names(self._root / "_connect")
        if is_tried:
            trial = placed(self._root, f"_connect/+tmp/{secrets.token_hex(8)}.trial")
            self._container.put(trial, b"")
            self._container.remove(trial)


def _opened(url: str, config: Mapping[str, str], limits: WorkerLimits) -> tuple[AzureContainer, Path]:
    """Return the container and folder of a URL. Raises ConfigError for a host that is not allowed."""
    address, container, root = _address(url, config)
    host = ensure_allowed_url(_ENDPOINT if config.get(_ENDPOINT) else _KEY, address, limits)
    parsed = AbstractConfig(AzureStorage.definition, config)
    account_key, token = parsed.get_password(_ACCOUNT_KEY), parsed.get_password(_SAS)
    if account_key is None and token is None:
        remedy = f"set {_ACCOUNT_KEY} or {_SAS} for this one"
        ensure_clouds_own_host("azure", _KEY, host, remedy)
        if config.get(_ENDPOINT):
            # The account is in the endpoint then: a listed one in the URL would say nothing.
            ensure_listed_place(_ENDPOINT, address, limits, remedy)
        ensure_listed_place(_KEY, url, limits, remedy)
    login = AzureLogin(address, account_key.value if account_key else None, token.value if token else None)
    return AzureContainer(login, container), root


@dataclass(frozen=True, slots=True)
class AzureFiles:
    """The published blobs, within the folder."""

    container: AzureContainer
    root: Path

    def size(self, name: str) -> int | None:
        """Return the size of a blob in bytes, ``None`` if it does not exist."""
        found = self.container.status(placed(self.root, name))
        return None if found is None else int(found.size)

    def open(self, name: str) -> BinaryIO:
        """Open a blob. Raises FileNotFoundError."""
        place, size = placed(self.root, name), self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return ranged(size, lambda start, length: self.container.piece(place, start, length))

    def names(self, folder: str) -> Iterator[str]:
        """Return the blobs in a folder."""
        skipped = len(placed(self.root, "a")) - 1
        yield from (name[skipped:] for name in self.container.all_names(f"{placed(self.root, folder)}/"))


@dataclass(frozen=True, slots=True)
class AzureStaging:
    """Files of an interval; of each, its name here, size and MD5 are held, and the ids of its blocks.

    If it has blocks, the blob of that name is a ticket: without it they are not published any more. Blocks
    themselves cannot be removed; Azure drops them a week after the last one was uploaded, or with the next publication.
    """

    container: AzureContainer
    root: Path
    folder: Path
    spool: Spool = field(default_factory=Spool)

    def create(self, name: str, expected: str) -> Output:
        """Create a local file: a failing call must not interrupt ``put``, as its records would come again."""
        return Output(name, self.spool, self._upload)

    def open(self, held: Held) -> BinaryIO:
        """Open a finished file for reading. Raises RetriableError for an uncommitted one."""
        if held.get("blocks") is not None or self.container.status(self.place(held)) is None:
            raise RetriableError(f"{held['staged']} in {self.folder} cannot be read; the interval has to run again")
        file = tempfile.SpooledTemporaryFile(BLOCK)  # noqa: SIM115
        for piece in self.container.pieces(self.place(held)):
            file.write(piece)
        file.seek(0)
        return cast(BinaryIO, file)

    def publish(self, held: Held, final: str) -> None:
        """Commit a file's blocks under its final name, unless that was done.

        The existing blob is read first, and only that one is replaced: a driver that is suspended after this replaces
        nothing, and one suspended before it finds that the ticket has been removed.
        """
        place = placed(self.root, final)
        existing = self.container.status(place)
        if _is_same(existing, held):
            return
        ticket = self.container.status(self.place(held))
        if ticket is not None and self._commit(held, place, _etag(existing)):
            return
        found = self.container.status(place)
        if _is_same(found, held):
            # Another driver that recovers the same interval was faster.
            return
        if ticket is not None and _etag(found) != _etag(existing):
            raise RetriableError(
                f"{place} in container {self.container.name} was written or removed by another program while it was "
                "being published"
            )
        raise ConnectError(
            f"{held['staged']} is missing in container {self.container.name}, folder {self.folder}, or is not what was "
            f"staged, yet the interval's manifest names it for {place} ({held['size']} bytes), so that it is not "
            "published; delete the manifest to have the interval exported again"
        )

    def place(self, held: Held) -> str:
        """Return the name of a staged file's blob, or of its ticket."""
        return placed(self.folder, held["staged"])

    def _upload(self, name: str, content: Content, final: str) -> Held:
        digest, held = hashlib.md5(usedforsecurity=False), {"staged": name, "size": content.size}
        ticket, place = placed(self.folder, name), placed(self.root, final) if final else ""
        if self.container.status(ticket) is not None:
            raise FileExistsError(f"{ticket} already exists")
        ids = self.container.stage(place or ticket, _digested(content.pieces(BLOCK), digest))
        md5 = {"md5": base64.b64encode(digest.digest()).decode()}
        if place:
            self._claim(ticket)
            return {**held, **md5, "final": place, "blocks": ids}
        if not self.container.commit(ticket, ids, digest.digest()):
            raise RetriableError(f"the blocks of {ticket} were removed before they were committed")
        return {**held, **md5}

    def _claim(self, ticket: str) -> None:
        """Write a ticket. Raises FileExistsError if another upload has."""
        mine = secrets.token_bytes(16)
        try:
            self.container.put_new(ticket, mine)
        except FileExistsError:
            # Azure's client repeats a request whose response was lost.
            if self.container.read(ticket) != mine:
                raise

    def _commit(self, held: Held, place: str, over: str) -> bool:
        """Return whether a file could be committed in place of the blob with this etag; empty: if there is none."""
        md5, ids = base64.b64decode(held["md5"]), held.get("blocks")
        if ids is None:
            digest = hashlib.md5(usedforsecurity=False)
            ids = self.container.stage(place, _digested(self.container.pieces(self.place(held)), digest))
            if digest.digest() != md5:
                return False
        elif held["final"] != place:
            return False
        return self.container.commit(place, ids, md5, over)


def _digested(pieces: Iterator[bytes], digest: Any) -> Iterator[bytes]:
    for piece in pieces:
        digest.update(piece)
        yield piece


def _etag(status: Any) -> str:
    return "" if status is None else str(status.etag)


def _is_same(status: Any, held: Held) -> bool:
    if status is None or status.size != held["size"]:
        return False
    found = status.content_settings.content_md5
    return found is not None and base64.b64encode(bytes(found)).decode() == held["md5"]


def _address(url: str, config: Mapping[str, str]) -> tuple[str, str, Path]:
    """Return the URL of the account's blobs, the container and the folder. Raises ConfigError."""
    place = BucketUrl.of(_KEY, url, _FORM)
    found = _HOST.match(place.bucket)
    if found is None:
        raise ConfigError(_KEY, url, f"write {_FORM}")
    container, account, domain = found.groups()
    endpoint = AbstractConfig(AzureStorage.definition, config).get_string(_ENDPOINT)
    return endpoint or f"https://{account}.blob.{domain}", container, place.root
