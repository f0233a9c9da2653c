"""Stores which files were read, in limited space for any number of files."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from connect_core.connectors.filesystem.source.piece import Piece
from connect_core.errors import ConnectError

__all__ = ["KEPT", "NamesRead", "Read", "TimesRead", "folder_of"]

KEPT = 1000
"""How many of the newest files that were read are stored individually."""
_MOST_FOLDERS = 2000
_DONE = "done"
_FLOOR = "floor"


class Read(ABC):
    """A set of pieces that were read."""

    @abstractmethod
    def to_offset(self) -> dict[str, Any]:
        """Return its part of an offset."""

    @abstractmethod
    def has(self, piece: Piece) -> bool:
        """Return whether a piece was read."""

    @abstractmethod
    def with_pieces(self, pieces: Iterable[Piece]) -> Read:
        """Return the set with more pieces."""

    @abstractmethod
    def joined(self, other: Read) -> Read:
        """Return the union of both sets."""


@dataclass(frozen=True, slots=True)
class TimesRead(Read):
    """Files ordered by time: all up to ``floor``, and those in ``done``.

    floor: (time in nanoseconds since 1970, name); done: digest of a piece → its file's time.
    """

    floor: tuple[int, str] = (-1, "")
    done: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> TimesRead:
        """Parse an offset. Raises KeyError, ValueError."""
        time, _, name = str(offset[_FLOOR]).partition(" ")
        pairs = (one.partition(":") for one in str(offset[_DONE]).split())
        return cls((int(time), name), {digest: int(at, 16) for digest, _, at in pairs})

    def to_offset(self) -> dict[str, Any]:
        """Return floor and digests as texts."""
        done = " ".join(f"{digest}:{at:x}" for digest, at in self.done.items())
        return {_FLOOR: f"{self.floor[0]} {self.floor[1]}", _DONE: done}

    def has(self, piece: Piece) -> bool:
        """Return whether a piece was read, or is so old that it counts as read."""
        return piece.key <= self.floor or (bool(self.done) and piece.digest in self.done)

    def with_pieces(self, pieces: Iterable[Piece]) -> TimesRead:
        """Return the set with more pieces."""
        return replace(self, done={**self.done, **{piece.digest: piece.entry.modified for piece in pieces}})

    def joined(self, other: Read) -> TimesRead:
        """Return the union of both sets."""
        assert isinstance(other, TimesRead)
        return TimesRead(max(self.floor, other.floor), {**self.done, **other.done})

    def floored(self, listed: Mapping[str, str], oldest: tuple[int, str] | None) -> tuple[int, str]:
        """Return the floor that leaves at most ``KEPT`` pieces above it, and all unread files.

        listed: digests of the existing pieces, with their files' names; oldest: the key of the oldest unread one.
        """
        keys = sorted((at, listed.get(digest, "")) for digest, at in self.done.items())
        limits = [key for key in keys[: max(0, len(keys) - KEPT)] if oldest is None or key < oldest]
        return max([self.floor, *limits[-1:]])

    def above(self, floor: tuple[int, str], listed: Mapping[str, str]) -> TimesRead:
        """Return the set with a higher floor, without the pieces below it."""
        kept = {digest: at for digest, at in self.done.items() if (at, listed.get(digest, "")) > floor}
        return TimesRead(floor, kept)

    def only(self, digests: Collection[str]) -> TimesRead:
        """Return the subset with the given digests."""
        return replace(self, done={digest: at for digest, at in self.done.items() if digest in digests})


@dataclass(frozen=True, slots=True)
class NamesRead(Read):
    """Files ordered by their names within a folder: all up to the last name of each."""

    last: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> NamesRead:
        """Parse an offset. Raises KeyError, ValueError."""
        return cls(json.loads(offset[_DONE]))

    def to_offset(self) -> dict[str, Any]:
        """Return folders and names as JSON."""
        return {_DONE: json.dumps(dict(self.last), separators=(",", ":"), ensure_ascii=False)}

    def has(self, piece: Piece) -> bool:
        """Return whether a file was read, or comes before one that was."""
        folder, name = folder_of(piece.entry.name)
        return name <= self.last.get(folder, "")

    def with_pieces(self, pieces: Iterable[Piece]) -> NamesRead:
        """Return the set with more files. Raises ConnectError for too many folders."""
        last = dict(self.last)
        for piece in pieces:
            folder, name = folder_of(piece.entry.name)
            last[folder] = max(name, last.get(folder, ""))
        if len(last) > _MOST_FOLDERS:
            text = f"file.order=name keeps a position for each folder, and there are more than {_MOST_FOLDERS}"
            raise ConnectError(f"{text}; read them by several connectors with a path each, or set file.order=time")
        return NamesRead(last)

    def joined(self, other: Read) -> NamesRead:
        """Return the union of both sets."""
        assert isinstance(other, NamesRead)
        last = dict(self.last)
        for folder, name in other.last.items():
            last[folder] = max(name, last.get(folder, ""))
        return NamesRead(last)


def folder_of(name: str) -> tuple[str, str]:
    """Return a file's folder, relative to the root, and its name there."""
    folder, _, bare = name.rpartition("/")
    return folder, bare
