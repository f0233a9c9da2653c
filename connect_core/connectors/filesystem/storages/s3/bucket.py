"""One bucket: the requests of the storage."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from connect_core.connectors.filesystem.storages.object_source import ListedObject, changed
from connect_core.connectors.filesystem.storages.s3.client import client_of, sent
from connect_core.connectors.filesystem.storages.s3.settings import S3Settings
from connect_core.errors import ConnectError, RetriableError

__all__ = ["HASH", "Bucket", "Found"]

HASH = "connect-sha256"
"""The metadata key for the hash of an object's content."""
_LONGEST_KEY = 1024
_MOST_DELETED = 1000
_BLOCK = 1024 * 1024
_ABSENT = frozenset({"NoSuchKey", "NotFound", "404"})
_GONE = _ABSENT | {"NoSuchUpload"}
_TAKEN = frozenset({"PreconditionFailed", "412"})
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Found:
    """The properties of an object, without reading it; ``sha256`` is empty if another program wrote it."""

    size: int
    sha256: str
    etag: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """Objects by key. Every call may raise RetriableError, or ConfigError and ConnectError with a remedy."""

    name: str
    settings: S3Settings

    def place(self, key: str) -> str:
        """Return the form of a key in messages."""
        return f"s3://{self.name}/{key}"

    def check_key(self, key: str) -> None:
        """Raise ConnectError for a key that is too long."""
        length = len(key.encode("utf-8", "surrogatepass"))
        if length > _LONGEST_KEY:
            raise ConnectError(
                f"{self.place(key[:200])}… has {length:,} bytes and S3 allows {_LONGEST_KEY:,}; "
                "shorten the prefix in path, or the folders of the partitioner"
            )

    def look(self) -> None:
        """Raise an error unless the bucket exists and may be listed."""
        self._send("", "cannot be listed", lambda: self._client.list_objects_v2(Bucket=self.name, MaxKeys=1))

    def get(self, key: str) -> bytes | None:
        """Return the content of an object, ``None`` if there is none."""

        def read() -> bytes:
            content: bytes = self._client.get_object(Bucket=self.name, Key=key)["Body"].read()
            return content

        return self._send(key, "cannot be read", read, _ABSENT)

    def piece(self, key: str, start: int, length: int, etag: str = "") -> bytes:
        """Return some bytes of an object, of this etag if given. Raises FileNotFoundError, FileChangedError."""
        wanted = {"Bucket": self.name, "Key": key, "Range": f"bytes={start}-{start + length - 1}"}
        wanted |= {"IfMatch": etag} if etag else {}

        def read() -> bytes:
            content: bytes = self._client.get_object(**wanted)["Body"].read()
            return content

        found = self._send(key, "cannot be read", read, _ABSENT | _TAKEN if etag else _ABSENT)
        if found is None:
            if etag and self.head(key) is not None:
                raise changed(self.place(key))
            raise FileNotFoundError(self.place(key))
        return found

    def load(self, key: str, target: IO[bytes]) -> bool:
        """Write the content of an object to a file → whether the object exists."""

        def read() -> bool:
            target.seek(0)
            target.truncate()
            for block in self._client.get_object(Bucket=self.name, Key=key)["Body"].iter_chunks(_BLOCK):
                target.write(block)
            return True

        return bool(self._send(key, "cannot be read", read, _ABSENT))

    def head(self, key: str) -> Found | None:
        """Return size, hash and etag of an object, ``None`` if there is none."""

        def look() -> Found:
            answer = self._client.head_object(Bucket=self.name, Key=key)
            return Found(answer["ContentLength"], answer.get("Metadata", {}).get(HASH, ""), answer["ETag"])

        return self._send(key, "cannot be inspected", look, _ABSENT)

    def put(self, key: str, data: bytes, traits: Mapping[str, Any]) -> None:
        """Write an object, replacing an existing one."""
        self._send(key, "cannot be written", lambda: self._put(key, data, traits))

    def put_new(self, key: str, data: bytes, traits: Mapping[str, Any]) -> str | None:
        """Write an object unless it exists → its etag.

        If a response was lost, it may be ``None`` although this call wrote the object: then compare the existing one.
        """
        wanted = {**traits, "IfNoneMatch": "*"}
        return self._send(key, "cannot be written", lambda: self._put(key, data, wanted), _TAKEN)

    def copy(self, source: str, etag: str, target: str, traits: Mapping[str, Any]) -> bool:
        """Copy an object within the store → whether there is a source with this etag."""

        def copy() -> bool:
            place = {"Bucket": self.name, "Key": source}
            self._client.copy_object(Bucket=self.name, Key=target, CopySource=place, CopySourceIfMatch=etag, **traits)
            return True

        return bool(self._send(target, "cannot be copied to", copy, _ABSENT | _TAKEN))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove the objects that exist."""
        for first in range(0, len(keys), _MOST_DELETED):
            self._delete(keys[first : first + _MOST_DELETED])

    def listed(self, prefix: str) -> Iterator[ListedObject]:
        """Return all objects whose keys begin with a prefix."""
        for page in self._pages(prefix, {}):
            for entry in page.get("Contents", ()):
                yield ListedObject(entry["Key"], entry["Size"], entry["LastModified"], entry["ETag"])

    def keys(self, prefix: str) -> Iterator[str]:
        """Return all keys that begin with a prefix."""
        for page in self._pages(prefix, {}):
            yield from (entry["Key"] for entry in page.get("Contents", ()))

    def names(self, prefix: str) -> Iterator[str]:
        """Return the part between a prefix and the next slash of each key with the prefix."""
        for page in self._pages(prefix, {"Delimiter": "/"}):
            yield from (entry["Key"].removeprefix(prefix) for entry in page.get("Contents", ()))
            yield from (entry["Prefix"].removeprefix(prefix)[:-1] for entry in page.get("CommonPrefixes", ()))

    def begin(self, key: str, traits: Mapping[str, Any]) -> tuple[str, int]:
        """Begin a multipart upload → its id, and how often that was requested.

        Of several requests, or if none is answered, each may have begun an upload of this key, or do so later.
        """
        requests = 0

        def begin() -> str:
            nonlocal requests
            requests += 1
            return str(self._client.create_multipart_upload(Bucket=self.name, Key=key, **traits)["UploadId"])

        return self._answer(key, "cannot be uploaded", begin), requests

    def part(self, key: str, upload: str, number: int, data: bytes) -> str:
        """Upload one part, counted from 1 → its etag."""
        wanted = {"Bucket": self.name, "Key": key, "UploadId": upload, "PartNumber": number, "ContentMD5": _md5(data)}
        return self._answer(
            key, "cannot be uploaded", lambda: str(self._client.upload_part(Body=data, **wanted)["ETag"])
        )

    def part_copy(self, key: str, upload: str, number: int, source: Mapping[str, str]) -> str:
        """Upload a byte range of an object as one part → its etag; source: parameters ``CopySource…``, no bucket."""
        wanted = {"Bucket": self.name, "Key": key, "UploadId": upload, "PartNumber": number, **source}
        wanted["CopySource"] = {"Bucket": self.name, "Key": source["CopySource"]}

        def copy() -> str:
            return str(self._client.upload_part_copy(**wanted)["CopyPartResult"]["ETag"])

        return self._answer(key, "cannot be copied to", copy)

    def complete(self, key: str, upload: str, etags: Sequence[str]) -> bool:
        """Make an object from an upload's parts → false if there is no such upload (any more)."""
        parts = [{"ETag": etag, "PartNumber": number} for number, etag in enumerate(etags, 1)]

        def complete() -> bool:
            self._client.complete_multipart_upload(
                Bucket=self.name, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
            )
            return True

        return bool(self._send(key, "cannot be completed", complete, _GONE))

    def abort(self, key: str, upload: str) -> None:
        """Abort an upload and remove its parts, unless it is completed or aborted already."""
        wanted = {"Bucket": self.name, "Key": key, "UploadId": upload}
        what = "has an upload that cannot be aborted"
        self._send(key, what, lambda: self._client.abort_multipart_upload(**wanted), _GONE)

    def uploads(self, key: str) -> list[str]:
        """Return the ids of a key's uploads that are neither completed nor aborted."""

        def look() -> list[str]:
            pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self.name, Prefix=key)
            return [one["UploadId"] for page in pages for one in page.get("Uploads", ()) if one["Key"] == key]

        return self._answer(key, "has uploads that cannot be listed", look)

    @property
    def _client(self) -> Any:
        return client_of(self.settings)

    def _put(self, key: str, data: bytes, traits: Mapping[str, Any]) -> str:
        answer = self._client.put_object(Bucket=self.name, Key=key, Body=data, ContentMD5=_md5(data), **traits)
        return str(answer["ETag"])

    def _delete(self, keys: Sequence[str]) -> None:
        wanted = {"Objects": [{"Key": key} for key in keys], "Quiet": True}

        def remove() -> Sequence[Mapping[str, str]]:
            if len(keys) > 1:
                return list(self._client.delete_objects(Bucket=self.name, Delete=wanted).get("Errors", ()))
            self._client.delete_object(Bucket=self.name, Key=keys[0])
            return ()

        for left in self._answer(keys[0], "cannot be removed", remove)[:1]:
            raise RetriableError(
                f"{self.place(left['Key'])} was not removed ({left.get('Code')}); check the permissions"
            )

    def _pages(self, prefix: str, more: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        wanted: dict[str, Any] = {"Bucket": self.name, "Prefix": prefix, **more}

        def look() -> Mapping[str, Any]:
            page: Mapping[str, Any] = self._client.list_objects_v2(**wanted)
            return page

        while True:
            page = self._answer(prefix, "cannot be listed", look)
            yield page
            if not page.get("IsTruncated"):
                return
            wanted["ContinuationToken"] = page["NextContinuationToken"]

    def _send(self, key: str, what: str, request: Callable[[], Answer], absent: Collection[str] = ()) -> Answer | None:
        return sent(self.settings, what, self.place(key), request, absent)

    def _answer(self, key: str, what: str, request: Callable[[], Answer]) -> Answer:
        answer = self._send(key, what, request)
        assert answer is not None
        return answer


def _md5(data: bytes) -> str:
    return b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
