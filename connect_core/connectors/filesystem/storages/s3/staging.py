"""Stages files for a bucket: small ones as hidden objects, others as uncompleted uploads under their final names."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from connect_core.connectors.filesystem.storages.s3.bucket import HASH, Bucket, Found
from connect_core.connectors.filesystem.storages.s3.output import Content, Output, Spool
from connect_core.connectors.filesystem.storages.s3.uploads import Upload, Uploads, part_size
from connect_core.connectors.filesystem.storages.storage import Held
from connect_core.errors import ConnectError, DataError, RetriableError

__all__ = ["COPIED_AT_ONCE", "SMALL", "S3Staging"]

SMALL = 5 * 1024 * 1024
"""Up to this size, a hidden object and a copy by the store need one request less than a multipart upload."""
COPIED_AT_ONCE = 1024 * 1024 * 1024
"""Larger objects are copied in parts, some at a time: a single request would take minutes."""
_READABLE = "+readable"


class _Root(Protocol):
    """The root: the storage's prefix."""

    bucket: Bucket

    def key(self, name: str) -> str:
        """Return the key of a name. Raises DataError if it leaves the prefix, ConnectError if it is too long."""


@dataclass(frozen=True, slots=True)
class S3Staging:
    """Held of a file is its name within the staging folder, or the key, id and etags of an upload."""

    root: _Root
    folder: Path
    spool: Spool = field(default_factory=Spool, repr=False)

    def create(self, name: str, expected: str) -> Output:
        """Create a local temporary file. ``finish`` detects a name that is already used."""
        # A key that is too long is refused before anything is written.
        self.root.key(expected)
        return Output(name, self.spool, self._upload)

    def open(self, held: Held) -> BinaryIO:
        """Load a finished file into a temporary one. Raises RetriableError for an uncompleted upload."""
        if "upload" in held:
            key = self._place(_READABLE)
            self._bucket.put(key, b"{}", self._hidden)
            place = self._bucket.place(str(held["key"]))
            raise RetriableError(
                f"{place} is an upload that nobody can read yet, and other tasks found columns it lacks; the interval "
                "is run again, with files that can be read"
            )
        key, file = self._place(held["staged"]), tempfile.TemporaryFile()  # noqa: SIM115
        if not self._bucket.load(key, file):
            raise _lost(self._bucket.place(key), None, held)
        file.seek(0)
        return cast(BinaryIO, file)

    def publish(self, held: Held, final: str) -> None:
        """Complete the upload, or copy the hidden object, unless that was done."""
        key = self.root.key(final)
        is_done = self._complete(held, key) if "upload" in held else self._copy(held, key)
        if not is_done:
            # Another driver that recovers the same interval was faster, or a response was lost.
            found = self._bucket.head(key)
            if found is None or (found.size, found.sha256) != (held["size"], held["sha256"]):
                raise _lost(self._bucket.place(key), found, held)

    def _upload(self, name: str, content: Content, final: str) -> Held:
        if content.size <= SMALL or not final or self._must_be_readable():
            return self._stage(name, content)
        return self._hold(name, content, final)

    def _stage(self, name: str, content: Content) -> Held:
        """Upload a file as a hidden object."""
        key, traits = self._place(name), {**self._hidden, "Metadata": {HASH: content.sha256}}
        etag = None
        if content.size <= SMALL:
            etag = self._bucket.put_new(key, content.read(), traits)
        else:
            upload = self._uploads.begin(name, key, traits)
            self._bucket.complete(key, upload.id, self._send(upload, content))
        etag = etag or self._standing(key, content)
        return {"staged": name, "size": content.size, "sha256": content.sha256, "etag": etag}

    def _hold(self, name: str, content: Content, final: str) -> Held:
        """Upload a file under its final name and leave the upload uncompleted."""
        traits = {**self._shown, "Metadata": {HASH: content.sha256}}
        upload = self._uploads.begin(name, self.root.key(final), traits)
        etags = self._send(upload, content)
        return {"key": upload.key, "upload": upload.id, "etags": etags, "size": content.size, "sha256": content.sha256}

    def _send(self, upload: Upload, content: Content) -> list[str]:
        return self._uploads.send(upload, content.pieces(part_size(self._bucket.settings.part_size, content.size)))

    def _must_be_readable(self) -> bool:
        """Return whether an attempt of this interval failed because the driver could not read an upload."""
        return self._bucket.head(self._place(_READABLE)) is not None

    @property
    def _uploads(self) -> Uploads:
        return Uploads(self._bucket, self.folder)

    @property
    def _hidden(self) -> Mapping[str, Any]:
        """Request parameters for objects that readers do not see."""
        return dict(self._bucket.settings.encryption)

    @property
    def _shown(self) -> Mapping[str, Any]:
        return {**self._hidden, **dict(self._bucket.settings.shown)}

    @property
    def _bucket(self) -> Bucket:
        return self.root.bucket

    def _place(self, name: str) -> str:
        return (self.folder / name).as_posix()

    def _standing(self, key: str, content: Content) -> str:
        """Return the etag of the staged object. Raises FileExistsError if its content is another one."""
        found = self._bucket.head(key)
        if found is None or (found.size, found.sha256) != (content.size, content.sha256):
            raise FileExistsError(f"{self._bucket.place(key)} already exists with different content")
        return found.etag

    def _complete(self, held: Held, key: str) -> bool:
        if held["key"] != key:
            raise DataError(f"{self._bucket.place(key)} was uploaded as {held['key']}: the manifest was changed")
        return self._bucket.complete(key, held["upload"], held["etags"])

    def _copy(self, held: Held, key: str) -> bool:
        source = self._place(held["staged"])
        if held["size"] <= COPIED_AT_ONCE:
            is_done = self._bucket.copy(source, held["etag"], key, self._shown)
        else:
            is_done = self._copy_in_parts(held, source, key)
        if is_done:
            # As with a rename: a driver that resumes late finds nothing that could replace a later file.
            self._bucket.delete([source])
        return is_done

    def _copy_in_parts(self, held: Held, source: str, key: str) -> bool:
        if self._bucket.head(source) is None:
            return False
        name = f"{held['staged']}.{secrets.token_hex(8)}"
        upload = self._uploads.begin(name, key, {**self._shown, "Metadata": {HASH: held["sha256"]}})
        etags = self._uploads.copy(upload, source, held["etag"], held["size"])
        return self._bucket.complete(key, upload.id, etags)


def _lost(place: str, found: Found | None, held: Held) -> ConnectError:
    what = "is missing" if found is None else "is not what was staged"
    return DataError(
        f"{place} {what}, yet the interval's manifest names it ({held['size']} bytes), so that nothing is published; "
        "restore the object, or delete the manifest to export the interval again"
    )
