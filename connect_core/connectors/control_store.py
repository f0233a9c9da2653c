"""Small JSON files that serve as proofs, in a folder of this machine or in a bucket."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from connect_core.connectors import link_free

__all__ = ["LOCAL", "ControlStore", "LocalControlStore", "write_durably"]


class ControlStore(Protocol):
    """What manifests, epochs and owners need of their storage.

    Paths are absolute on a file system, and begin at the root of a bucket. Every call returns only once its effect is
    durable and visible to all.
    """

    def read(self, place: Path) -> dict[str, Any] | None:
        """Return the JSON of a file, or ``None`` if there is none."""

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        """Write complete JSON unless the file exists → the content that is there.

        Of any number of callers exactly one writes: the manifest depends on it. A store without a conditional create
        must raise ConfigError instead of trying.
        """

    def names(self, folder: Path) -> list[str]:
        """Return the names of the files and folders in a folder; empty if it does not exist."""

    def remove(self, place: Path) -> None:
        """Remove a file, if it exists."""

    def remove_tree(self, place: Path) -> bool:
        """Remove what was staged in a folder, including its pending uploads → whether nothing is left."""


class LocalControlStore:
    """Files of this machine, or of a mounted file system; no link is followed."""

    def read(self, place: Path) -> dict[str, Any] | None:
        """Return the JSON of a file, or ``None`` if there is none."""
        try:
            content: dict[str, Any] = json.loads(link_free.read_bytes(place))
        except FileNotFoundError:
            return None
        return content

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        """Write complete JSON durably unless the file exists → the content that is there."""
        existing = self.read(place)
        if existing is not None:
            return existing
        link_free.make_folders(place.parent)
        draft = place.parent / f".{secrets.token_hex(8)}.draft"
        write_durably(draft, json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())
        try:
            # A hard link is created atomically and never replaces another file: nobody reads half a manifest.
            link_free.hard_link(draft, place)
        except FileExistsError:
            pass
        finally:
            link_free.remove(draft)
        link_free.sync_folder(place.parent)
        existing = self.read(place)
        assert existing is not None
        return existing

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder."""
        return sorted(place.name for place in folder.iterdir()) if folder.is_dir() else []

    def remove(self, place: Path) -> None:
        """Remove a file, if it exists."""
        link_free.remove(place)

    def remove_tree(self, place: Path) -> bool:
        """Remove a folder; what cannot be removed is left."""
        link_free.remove_tree(place)
        return not place.exists()


LOCAL = LocalControlStore()
"""This machine's files."""


def write_durably(place: Path, content: bytes) -> None:
    """Write a new file and make its content durable. Raises FileExistsError."""
    descriptor = link_free.open_file(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
