"""Multipart uploads, each recorded before it is begun, so that a process that dies leaves none behind."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect_core.connectors.filesystem.storages.s3.bucket import Bucket
from connect_core.errors import ConnectError, RetriableError

__all__ = ["LATE_TIMES", "Upload", "Uploads", "part_size"]

_ENDING = ".upload"
_MOST_PARTS = 10_000
_THREADS = 3
LATE_TIMES = 10
"""After so many read time-outs, a request whose response was lost has been carried out, or never will be."""
_COPIED = 256 * 1024 * 1024
"""The size in bytes of parts that the store copies itself."""


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload that was begun."""

    key: str
    id: str


@dataclass(frozen=True, slots=True)
class _Record:
    """What is known of an upload; ``lost``: the time of a request to begin it that was not answered, in seconds."""

    key: str
    upload: str | None
    lost: float | None


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of files staged in one folder. A record next to them contains the key and, once known, the id."""

    bucket: Bucket
    folder: Path

    def begin(self, name: str, key: str, traits: Mapping[str, Any]) -> Upload:
        """Begin an upload for a staged file under a key. Raises FileExistsError if the staged name was used before."""
        record = (self.folder / f"{name}{_ENDING}").as_posix()
        if self.bucket.put_new(record, _record(key), self._traits) is None and self.bucket.get(record) != _record(key):
            raise FileExistsError(f"{self.bucket.place(record)} already exists")
        try:
            upload, requests = self.bucket.begin(key, traits)
        except RetriableError:
            with suppress(ConnectError):
                self.bucket.put(record, _record(key, lost=time.time()), self._traits)
            raise
        self.bucket.put(record, _record(key, upload, time.time() if requests > 1 else None), self._traits)
        return Upload(key, upload)

    def send(self, upload: Upload, parts: Iterator[bytes]) -> list[str]:
        """Upload parts, some at a time → their etags."""
        etags: list[str] = []
        with ThreadPoolExecutor(_THREADS) as threads:
            while some := [data for _, data in zip(range(_THREADS), parts, strict=False)]:
                first = len(etags) + 1
                etags += threads.map(
                    lambda number, data: self.bucket.part(upload.key, upload.id, number, data),
                    range(first, first + len(some)),
                    some,
                )
        return etags

    def copy(self, upload: Upload, source: str, etag: str, size: int) -> list[str]:
        """Copy an object within the store into an upload, some parts at a time → their etags."""
        step = part_size(_COPIED, size)
        starts = range(0, size, step)

        def one(number: int, start: int) -> str:
            span = f"bytes={start}-{min(start + step, size) - 1}"
            parts = {"CopySource": source, "CopySourceIfMatch": etag, "CopySourceRange": span}
            return self.bucket.part_copy(upload.key, upload.id, number, parts)

        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(one, range(1, len(starts) + 1), starts))

    def clear(self) -> set[str] | None:
        """Abort the uploads begun here and not completed → the records needed to do so again; ``None``: some are left.

        An upload without a recorded id is distinguished by its key from those of other intervals of the same range: it
        is left while one of these may be about to record its own id.
        """
        records = [key for key in self.bucket.keys(f"{self.folder.as_posix()}/") if key.endswith(_ENDING)]
        contents = {record: _read(self.bucket.get(record)) for record in records}
        left = [record for record, content in contents.items() if not self._clear(content)]
        return None if left else {record for record, content in contents.items() if self._is_recent(content.lost)}

    def _is_recent(self, lost: float | None) -> bool:
        """Return whether a request that was not answered may still be carried out, as after a queue in a proxy."""
        return lost is not None and time.time() < lost + LATE_TIMES * self.bucket.settings.read_timeout

    def _clear(self, record: _Record) -> bool:
        key, upload = record.key, record.upload
        if not key:
            return True
        if upload:
            self.bucket.abort(key, upload)
        # The list of uploads is read before the other records, as a record is written before its upload: not vice
        # versa.
        begun = self.bucket.uploads(key)
        others = self._others(key) if begun else []
        if None in others:
            return False
        for unknown in set(begun).difference(one for one in others if one):
            self.bucket.abort(key, unknown)
        return True

    def _others(self, key: str) -> Sequence[str | None]:
        """Return the ids of other folders' uploads of a key, ``None`` for one that is not recorded yet."""
        mine, all_folders = f"{self.folder.as_posix()}/", f"{self.folder.parent.parent.as_posix()}/"
        records = [
            record
            for record in self.bucket.keys(all_folders)
            if record.endswith(_ENDING) and not record.startswith(mine)
        ]
        contents = (_read(self.bucket.get(record)) for record in records)
        return [content.upload for content in contents if content.key == key]

    @property
    def _traits(self) -> Mapping[str, Any]:
        return dict(self.bucket.settings.encryption)


def part_size(wanted: int, size: int) -> int:
    """Return the size of a file's parts, so that there are not more parts than S3 allows."""
    return max(wanted, -(-size // _MOST_PARTS))


def _record(key: str, upload: str | None = None, lost: float | None = None) -> bytes:
    return json.dumps({"key": key, "upload": upload} | ({} if lost is None else {"lost": lost})).encode()


def _read(record: bytes | None) -> _Record:
    content = json.loads(record) if record else {}
    return _Record(content.get("key", ""), content.get("upload"), content.get("lost"))
