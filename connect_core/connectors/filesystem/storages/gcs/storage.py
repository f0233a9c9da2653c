"""A prefix in a bucket of Google Cloud Storage."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.allowed_url import ensure_allowed_url
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_path
from connect_core.connectors.control_store import ControlStore
from connect_core.connectors.filesystem.storages.bucket_url import BucketUrl, placed
from connect_core.connectors.filesystem.storages.gcs.client import CHUNK, GcsBucket, GcsLogin
from connect_core.connectors.filesystem.storages.object_control import ObjectControlStore
from connect_core.connectors.filesystem.storages.object_source import ObjectSource
from connect_core.connectors.filesystem.storages.ranged import ranged
from connect_core.connectors.filesystem.storages.s3.output import Content, Output, Spool
from connect_core.connectors.filesystem.storages.storage import Held, Storage
from connect_core.connectors.worker_login import ensure_listed_place
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["GcsFiles", "GcsStaging", "GcsStorage"]

_KEY = "path"
_FORM = "gs://bucket/folder"
_FILE, _JSON, _ENDPOINT = "gcs.credentials.path", "gcs.credentials.json", "gcs.endpoint"
_HOST = "storage.googleapis.com"


class GcsStorage(Storage):
    """Stages objects in the control folder; publication copies them in the store: readers see no partial object.

    An unfinished upload under the final name would save the copy, but finishing one requires its last bytes and its
    secret address, and Google drops it after a week.
    """

    requests_at_once = 8
    replaces = True
    after_commit = frozenset({"leave", "mark", "delete"})
    definition = (
        ConfigDef()
        .define(
            _FILE,
            ConfigType.STRING,
            None,
            importance=Importance.MEDIUM,
            doc="For gs://: the file of a service account's key, within file.roots of the driver and all workers; the "
            "machine's own account (Application Default Credentials) if neither is set.",
        )
        .define(
            _JSON,
            ConfigType.PASSWORD,
            None,
            importance=Importance.MEDIUM,
            doc="For gs://: a service account's key as JSON, instead of gcs.credentials.path.",
        )
        .define(
            _ENDPOINT,
            ConfigType.STRING,
            None,
            importance=Importance.LOW,
            doc="For gs://: a different address for the API, such as an emulator's; called without a login if no key "
            "is set.",
        )
    )
    control: ControlStore

    def __init__(self, bucket: GcsBucket, root: Path) -> None:
        self._bucket = bucket
        self._root = root
        self.control = ObjectControlStore(bucket)

    @classmethod
    def open(cls, url: str, config: Mapping[str, str], limits: WorkerLimits, *, is_at_work: bool = False) -> GcsStorage:
        """Return the storage of a prefix. Raises ConfigError, at work RetriableError."""
        place = BucketUrl.of(_KEY, url, _FORM)
        storage = cls(GcsBucket(_login(url, config, limits), place.bucket), place.root)
        try:
            storage._check(is_tried=not is_at_work)
        except ConnectError as error:
            raise error if is_at_work else ConfigError(_KEY, url, str(error)) from error
        return storage

    @classmethod
    def open_source(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> ObjectSource:
        """Return the objects of ``gs://bucket/prefix``. Raises ConfigError, also for a host that is not allowed."""
        place = BucketUrl.of(_KEY, url, _FORM)
        bucket = GcsBucket(_login(url, config, limits), place.bucket)
        return ObjectSource(
            place.root, bucket.listed, bucket.piece_of, bucket.remove, lambda name: bucket.put(name, b"")
        )

    @classmethod
    def locate(cls, url: str, config: Mapping[str, str], limits: WorkerLimits) -> str:
        """Return endpoint, bucket and prefix. Raises ConfigError."""
        place = BucketUrl.of(_KEY, url, _FORM)
        endpoint = AbstractConfig(cls.definition, config).get_string(_ENDPOINT)
        return f"{endpoint or ''}gs://{place.bucket}/{place.prefix}"

    @property
    def root(self) -> Path:
        """The prefix."""
        return self._root

    def address(self, name: str) -> str:
        """Return the object's URL."""
        return f"gs://{self._bucket.name}/{placed(self._root, name)}"

    def published(self) -> GcsFiles:
        """Return the published objects."""
        return GcsFiles(self._bucket, self._root)

    def staging(self, folder: Path) -> GcsStaging:
        """Return the staged files of a prefix."""
        return GcsStaging(self._bucket, self._root, folder)

    def settle(self, names: Collection[str]) -> None:
        """Do nothing: the store responds only once an object is durable."""

    def mark(self, name: str) -> None:
        """Write an empty object."""
        self._bucket.put(placed(self._root, name), b"")

    def unmark(self, name: str) -> None:
        """Remove an empty object, if it exists."""
        self._bucket.remove(placed(self._root, name))

    def _check(self, *, is_tried: bool) -> None:
        self.control.names(self._root / "_connect")
        if is_tried:
            trial = placed(self._root, f"_connect/+tmp/{secrets.token_hex(8)}.trial")
            self._bucket.put(trial, b"")
            self._bucket.remove(trial)


def _login(url: str, config: Mapping[str, str], limits: WorkerLimits) -> GcsLogin:
    """Return the endpoint and login for the API. Raises ConfigError for a host, file or bucket that is not allowed."""
    parsed = AbstractConfig(GcsStorage.definition, config)
    endpoint, file = parsed.get_string(_ENDPOINT), parsed.get_string(_FILE)
    if endpoint:
        ensure_allowed_url(_ENDPOINT, endpoint, limits)
    else:
        ensure_allowed_host(_ENDPOINT, _HOST, limits)
    secret = parsed.get_password(_JSON)
    if not (file or secret or endpoint):
        ensure_listed_place(_KEY, url, limits, f"set {_FILE} or {_JSON} for this one")
    for text in ([secret.value] if secret else []) + ([_text(_FILE, file, limits)] if file else []):
        _check_login_host(text, limits)
    return GcsLogin(endpoint, file and str(allowed_path(_FILE, file, limits)), secret.value if secret else None)


def _text(key: str, file: str, limits: WorkerLimits) -> str:
    try:
        return Path(allowed_path(key, file, limits)).read_text()
    except (OSError, UnicodeDecodeError):
        return ""  # The error is reported when the client is created.


def _check_login_host(text: str, limits: WorkerLimits) -> None:
    """Raise ConfigError for a key whose tokens would be requested from a host that this worker may not call."""
    with suppress(ValueError, AttributeError):
        place = json.loads(text).get("token_uri")
        if isinstance(place, str):
            ensure_allowed_url(f"token_uri of {_JSON}", place, limits)


@dataclass(frozen=True, slots=True)
class GcsFiles:
    """The published objects, within the root."""

    bucket: GcsBucket
    root: Path

    def size(self, name: str) -> int | None:
        """Return the size of an object in bytes, ``None`` if it does not exist."""
        blob = self.bucket.status(placed(self.root, name))
        return None if blob is None else int(blob.size)

    def open(self, name: str) -> BinaryIO:
        """Open an object. Raises FileNotFoundError."""
        place = placed(self.root, name)
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return ranged(size, lambda start, length: self.bucket.piece(place, start, length))

    def names(self, folder: str) -> Iterator[str]:
        """Return the objects in a folder."""
        skipped = len(placed(self.root, "a")) - 1
        yield from (name[skipped:] for name in self.bucket.all_names(f"{placed(self.root, folder)}/"))


@dataclass(frozen=True, slots=True)
class GcsStaging:
    """Staged objects within a prefix; of each, its name there, size, generation and MD5 are held."""

    bucket: GcsBucket
    root: Path
    folder: Path
    spool: Spool = field(default_factory=Spool)

    def create(self, name: str, expected: str) -> Output:
        """Create a local file: a failing call must not interrupt ``put``, as its records would come again."""
        return Output(name, self.spool, self._upload)

    def open(self, held: Held) -> BinaryIO:
        """Open a finished object for reading."""
        blob = self.bucket.status(placed(self.folder, held["staged"]))
        if blob is None:
            raise RetriableError(f"{held['staged']} is missing in {self.folder}; the interval has to run again")
        return cast(BinaryIO, blob.open("rb", chunk_size=CHUNK))

    def publish(self, held: Held, final: str) -> None:
        """Copy an object to its final name, unless that was done.

        The existing object is read first, and only that one is replaced: a driver that is suspended after this replaces
        nothing, and one suspended before it finds that the staged object has been removed.
        """
        place = placed(self.root, final)
        existing = self.bucket.status(place)
        if _is_same(existing, held):
            return
        staged = self.bucket.status(placed(self.folder, held["staged"]))
        is_staged = staged is not None and staged.generation == held["generation"] and _is_same(staged, held)
        if is_staged and self.bucket.copy(staged, place, 0 if existing is None else existing.generation):
            return
        if _is_same(self.bucket.status(place), held):
            # Another driver that recovers the same interval was faster.
            return
        if is_staged:
            raise RetriableError(
                f"{place} in gs://{self.bucket.name} was written or removed by another program while it was being "
                "published"
            )
        what = "is missing" if staged is None else "is not what was staged"
        raise ConnectError(
            f"{held['staged']} {what} in gs://{self.bucket.name}/{self.folder}, yet the interval's manifest names "
            f"it for {place} ({held['size']} bytes), so nothing is published; restore the object, or delete "
            "the manifest to have the interval exported again"
        )

    def _upload(self, name: str, content: Content, final: str) -> Held:
        place, digest = placed(self.folder, name), hashlib.md5(usedforsecurity=False)
        if self.bucket.status(place) is not None:
            raise FileExistsError(f"{place} already exists")
        self.bucket.upload(place, _digested(content.pieces(CHUNK), digest))
        blob = self.bucket.status(place)
        held = {"staged": name, "size": content.size, "md5": base64.b64encode(digest.digest()).decode()}
        if blob is None or not _is_same(blob, held):
            raise RetriableError(f"{place} is missing or is not what was written: {content.size} bytes")
        return {**held, "generation": blob.generation}


def _digested(pieces: Iterator[bytes], digest: Any) -> Iterator[bytes]:
    for piece in pieces:
        digest.update(piece)
        yield piece


def _is_same(blob: Any, held: Held) -> bool:
    return blob is not None and (blob.size, blob.md5_hash) == (held["size"], held["md5"])
