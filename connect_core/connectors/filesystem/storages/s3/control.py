"""Manifests, epochs and owners in a bucket: objects created only once, by a conditional request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connect_core.connectors.filesystem.storages.s3.bucket import Bucket
from connect_core.connectors.filesystem.storages.s3.uploads import Uploads
from connect_core.errors import ConfigError, RetriableError

__all__ = ["S3ControlStore"]

_TRIES = 5


@dataclass(slots=True)
class S3ControlStore:
    """A ControlStore within a prefix. Before its first create, it tests whether the store enforces conditions."""

    bucket: Bucket
    root: Path
    _is_tried: bool = field(default=False, repr=False)

    def read(self, place: Path) -> dict[str, Any] | None:
        """Return the JSON of an object, or ``None`` if there is none."""
        found = self.bucket.get(place.as_posix())
        if found is None:
            return None
        content: dict[str, Any] = json.loads(found)
        return content

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        """Write JSON unless the object exists → the content that is there. Raises ConfigError as ``try_condition``."""
        key = place.as_posix()
        self.bucket.check_key(key)
        data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        for _ in range(_TRIES):
            existing = self.read(place)
            if existing is not None:
                return existing
            self.try_condition()
            # Whoever wrote it, even this call if its response was lost: the next read returns the valid content.
            self.bucket.put_new(key, data, self._traits)
        raise RetriableError(f"{self.bucket.place(key)} is repeatedly removed by another program")

    def names(self, folder: Path) -> list[str]:
        """Return the names of objects and folders in a folder."""
        return sorted(set(self.bucket.names(f"{folder.as_posix()}/")) - {""})

    def remove(self, place: Path) -> None:
        """Remove an object, if it exists."""
        self.bucket.delete([place.as_posix()])

    def remove_tree(self, place: Path) -> bool:
        """Abort the uploads begun for a staging folder and remove its objects.

        If an upload cannot be distinguished yet from one that is just being begun, everything is left until it can.
        The record of an upload that a lost request may still begin is left for a later call, which aborts that one.
        """
        kept = Uploads(self.bucket, place).clear()
        if kept is None:
            return False
        self.bucket.delete([key for key in self.bucket.keys(f"{place.as_posix()}/") if key not in kept])
        return True

    def try_condition(self) -> None:
        """Create an object twice, once per process. Raises ConfigError if the store allows this.

        Of several drivers one must win: a store that ignores the condition would let two commit.
        """
        if self._is_tried:
            return
        key = (self.root / "_connect" / "+once").as_posix()
        # The object is kept: if it exists already, a single request is enough.
        if self.bucket.put_new(key, b"{}", self._traits) and self.bucket.put_new(key, b"{}", self._traits):
            url = self.bucket.place(self.root.as_posix())
            raise ConfigError(
                "path",
                url,
                "the store ignores If-None-Match, so two drivers could commit one interval; use a store that "
                "supports it (Amazon S3, MinIO, SeaweedFS, Ceph from Squid on), or a newer version of this one",
            )
        self._is_tried = True

    @property
    def _traits(self) -> Mapping[str, Any]:
        return dict(self.bucket.settings.encryption)
