"""Manifests, epochs and owners in HDFS."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from connect_core.connectors.filesystem.storages.hdfs.client import HdfsClient
from connect_core.errors import ConnectError, RetriableError

__all__ = ["HdfsControlStore"]


class HdfsControlStore:
    """Files are written as a draft and renamed: the NameNode's rename is atomic and does not replace another file.

    HDFS has an atomic create as well, but such a file is visible, and empty, until its bytes are written.
    """

    def __init__(self, client: HdfsClient) -> None:
        self._client = client

    def read(self, place: Path) -> dict[str, Any] | None:
        """Return the JSON of a file, or ``None`` if there is none."""
        try:
            with self._client.open(str(place)) as file:
                content: dict[str, Any] = json.loads(file.read() or b"{}")
        except FileNotFoundError:
            return None
        return content

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        """Write complete JSON durably unless the file exists → the content that is there."""
        existing = self.read(place)
        if existing is not None:
            return existing
        draft = str(place.parent / f".{secrets.token_hex(8)}.draft")
        try:
            self._write(draft, content)
            self._client.rename(draft, str(place), overwrite=False)
        except FileExistsError:
            self._client.remove(draft)
        except FileNotFoundError:
            # The response to a rename was lost and the client repeated it; the existing file shows the result.
            pass
        except ConnectError:
            with suppress(ConnectError):
                self._client.remove(draft)
            raise
        existing = self.read(place)
        if existing is None:
            raise RetriableError(f"{place} was not written: its folder was removed meanwhile")
        return existing

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder."""
        return self._client.names(str(folder))

    def remove(self, place: Path) -> None:
        """Remove a file, if it exists."""
        self._client.remove(str(place))

    def remove_tree(self, place: Path) -> bool:
        """Remove a folder, including files that are open in it."""
        self._client.remove(str(place), recursive=True)
        return True

    def _write(self, place: str, content: Mapping[str, Any]) -> None:
        file = self._client.create(place)
        if content:
            # An empty file needs no block, and so no DataNode; it represents {}.
            file.write(memoryview(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()))
        file.close()
