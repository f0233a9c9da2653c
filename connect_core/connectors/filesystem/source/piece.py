"""A part of a file that one task reads."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from connect_core.connectors.filesystem.storages.source_files import FileEntry

__all__ = ["Piece"]


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of a file that begin in the bytes [begin, end)."""

    entry: FileEntry
    begin: int
    end: int

    @property
    def digest(self) -> str:
        """Identifies this piece of this version of the file."""
        text = f"{self.entry.name}\0{self.entry.version}\0{self.begin}".encode()
        return base64.urlsafe_b64encode(hashlib.blake2b(text, digest_size=9).digest()).decode()

    @property
    def key(self) -> tuple[int, str]:
        """The modification time and the name of its file."""
        return self.entry.modified, self.entry.name

    def __str__(self) -> str:
        part = "" if (self.begin, self.end) == (0, self.entry.size) else f", bytes {self.begin} to {self.end}"
        return f"{self.entry.name}{part}"
