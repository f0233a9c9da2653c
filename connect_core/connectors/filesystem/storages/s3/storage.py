"""A prefix of a bucket as a storage."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.allowed_url import ensure_allowed_url
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.storages.object_source import ObjectSource
from connect_core.connectors.filesystem.storages.ranged import ranged
from connect_core.connectors.filesystem.storages.s3.bucket import Bucket
from connect_core.connectors.filesystem.storages.s3.client import client_of
from connect_core.connectors.filesystem.storages.s3.control import S3ControlStore
from connect_core.connectors.filesystem.storages.s3.settings import (
    ACCESS_KEY,
    CONFIG,
    ENDPOINT,
    PROXY,
    SECRET_KEY,
    S3Settings,
    bucket_and_prefix,
)
from connect_core.connectors.filesystem.storages.s3.staging import S3Staging
from connect_core.connectors.filesystem.storages.storage import Storage
from connect_core.connectors.worker_login import ensure_listed_place
from connect_core.errors import ConfigError, ConnectError, DataError

__all__ = ["S3Files", "S3Storage"]

_KEY = "path"
_ANSWER_SECONDS = 1.5
"""How long ``validate`` waits for one response: it sends three requests and must itself respond within 5 s."""


@dataclass(frozen=True, slots=True)
class S3Files:
    """The published objects, within the prefix."""

    storage: S3Storage

    def size(self, name: str) -> int | None:
        """Return the size of an object in bytes, ``None`` if it does not exist."""
        found = self.storage.bucket.head(self.storage.key(name))
        return None if found is None else found.size

    def open(self, name: str) -> BinaryIO:
        """Open an object. Raises FileNotFoundError."""
        key, size = self.storage.key(name), self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return ranged(size, lambda start, length: self.storage.bucket.piece(key, start, length))

    def names(self, folder: str) -> Iterator[str]:
        """Return the objects in a folder."""
        root = self.storage.root.as_posix()
        skipped = 0 if root == "." else len(root) + 1
        yield from (key[skipped:] for key in self.storage.bucket.keys(f"{self.storage.key(folder)}/"))


class S3Storage(Storage):
    """Leaves uploads uncompleted under their final names; readers list whole objects or none."""

    definition = CONFIG
    requests_at_once = 8
    replaces = True
    after_commit = frozenset({"leave", "mark", "delete"})

    def __init__(self, bucket: Bucket, root: Path) -> None:
        self.bucket = bucket
        self._root = root
        self.control: S3ControlStore = S3ControlStore(bucket, root)

    @classmethod
    def open(cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> S3Storage:
        """Return the storage of ``s3://bucket/prefix``. Raises ConfigError, also for a host that is not allowed.

        Unless at work, it tests whether the store may be written and enforces conditions. At work, the first request
        shows the former, and conditions are tested before anything is created.
        """
        name, prefix = bucket_and_prefix(_KEY, url)
        settings = S3Settings.of(config) if is_at_work else _quick(S3Settings.of(config))
        _ensure_allowed(url, settings, limits)
        storage = cls(Bucket(name, settings), Path(prefix))
        if not is_at_work:
            storage._try(url)
        return storage

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> ObjectSource:
        """Return the objects of ``s3://bucket/prefix``. Raises ConfigError, also for a host that is not allowed."""
        name, prefix = bucket_and_prefix(_KEY, url)
        settings = S3Settings.of(config)
        _ensure_allowed(url, settings, limits)
        bucket = Bucket(name, settings)
        shown = dict((*settings.encryption, *settings.shown))
        return ObjectSource(
            Path(prefix),
            bucket.listed,
            lambda key, etag, start, length: bucket.piece(key, start, length, etag),
            lambda key: bucket.delete([key]),
            lambda key: bucket.put(key, b"", shown),
        )

    @classmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return the URL, with the store's address if it is not Amazon's. Raises ConfigError."""
        name, prefix = bucket_and_prefix(_KEY, url)
        endpoint = S3Settings.of(config).endpoint
        place = f"s3://{name}/{prefix}"
        return f"{place} at {endpoint}" if endpoint else place

    @property
    def root(self) -> Path:
        """The prefix."""
        return self._root

    def address(self, name: str) -> str:
        """Return the object's URL."""
        return self.bucket.place(self.key(name))

    def key(self, name: str) -> str:
        """Return the key of a name. Raises DataError if it leaves the prefix, ConnectError if it is too long."""
        if name.startswith("/") or ".." in name.split("/"):
            raise DataError(f"{name} is outside {self.bucket.place(str(self._root))}: nothing is written there")
        key = (self._root / name).as_posix()
        self.bucket.check_key(key)
        return key

    def published(self) -> S3Files:
        """Return the published objects."""
        return S3Files(self)

    def staging(self, folder: Path) -> S3Staging:
        """Return the staged files of a folder."""
        return S3Staging(self, folder)

    def settle(self, names: Collection[str]) -> None:
        """Do nothing: the store responds only once an object is durable and visible to all."""

    def mark(self, name: str) -> None:
        """Write an empty object."""
        settings = self.bucket.settings
        self.bucket.put(self.key(name), b"", dict((*settings.encryption, *settings.shown)))

    def unmark(self, name: str) -> None:
        """Remove an empty object, if it exists."""
        self.bucket.delete([self.key(name)])

    def _try(self, url: str) -> None:
        """Check whether the prefix may be written. Raises ConfigError."""
        try:
            self.bucket.look()
            self.control.try_condition()
        except ConfigError:
            raise
        except ConnectError as error:
            raise ConfigError(_KEY, url, str(error)) from error


def _ensure_allowed(url: str, settings: S3Settings, limits: WorkerLimits) -> None:
    if not settings.access_key:
        ensure_listed_place(_KEY, url, limits, f"set {ACCESS_KEY} and {SECRET_KEY} for this one")
    ensure_allowed_url(ENDPOINT, client_of(settings).meta.endpoint_url, limits)
    if settings.proxy:
        # Its user and password are settings of their own, and were added to the address.
        ensure_allowed_host(PROXY, urlsplit(settings.proxy).hostname or "", limits)


def _quick(settings: S3Settings) -> S3Settings:
    """Return settings with short timeouts, for a person who waits for the result."""
    return replace(
        settings,
        retries=0,
        connect_timeout=min(_ANSWER_SECONDS, settings.connect_timeout),
        read_timeout=min(_ANSWER_SECONDS, settings.read_timeout),
    )
