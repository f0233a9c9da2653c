"""Published files as a reader sees them: the optional part of storages that recounting needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

__all__ = ["PublishedFiles"]


class PublishedFiles(Protocol):
    """Files below a storage's root; names as in manifests. Every call may raise ConnectError."""

    def size(self, name: str) -> int | None:
        """Return how many bytes a file has, ``None`` if it is not there."""

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading, seekable. Raises FileNotFoundError, or ConnectError."""

    def names(self, folder: str) -> Iterator[str]:
        """Return the files below a folder, at any depth; none if it is not there."""
