"""Published files for reading: the optional part of storages that recounting needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

__all__ = ["PublishedFiles"]


class PublishedFiles(Protocol):
    """Files within a storage's root, by their names in manifests. Every call may raise ConnectError."""

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes, ``None`` if it does not exist."""

    def open(self, name: str) -> BinaryIO:
        """Open a seekable file for reading. Raises FileNotFoundError, or ConnectError."""

    def names(self, folder: str) -> Iterator[str]:
        """Return the files in a folder, at any depth; none if it does not exist."""
