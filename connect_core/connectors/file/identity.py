"""Identifies the file that a source position belongs to: by its inode and a sample of what was read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FileIdentity"]

_SAMPLE = 1024


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """A file at the time when ``position`` bytes of it had been read.

    ``sample``: hash of the first and the last KiB before ``position``.
    """

    device: int
    inode: int
    position: int
    sample: str

    @classmethod
    def of(cls, descriptor: int, position: int) -> FileIdentity:
        """Return the identity of an open file at a position."""
        status = os.fstat(descriptor)
        return cls(status.st_dev, status.st_ino, position, _sample(descriptor, position))

    @classmethod
    def from_state(cls, state: Mapping[str, str] | None) -> FileIdentity | None:
        """Parse the result of ``to_state``; ``None`` for nothing and for an invalid state."""
        if not state:
            return None
        try:
            return cls(int(state["device"]), int(state["inode"]), int(state["position"]), state["sample"])
        except (KeyError, ValueError):
            return None

    def to_state(self) -> dict[str, str]:
        """Return the identity as text, to be stored with the source offset."""
        return {
            "device": str(self.device),
            "inode": str(self.inode),
            "position": str(self.position),
            "sample": self.sample,
        }

    def is_same_inode(self, descriptor: int) -> bool:
        """Return whether an open file has the same inode."""
        status = os.fstat(descriptor)
        return (status.st_dev, status.st_ino) == (self.device, self.inode)

    def has_same_start(self, descriptor: int) -> bool:
        """Return whether an open file has the same content up to ``position``."""
        return os.fstat(descriptor).st_size >= self.position and _sample(descriptor, self.position) == self.sample


def _sample(descriptor: int, position: int) -> str:
    size = min(_SAMPLE, position)
    return hashlib.sha256(os.pread(descriptor, size, 0) + os.pread(descriptor, size, position - size)).hexdigest()
