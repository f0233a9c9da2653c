"""Source offsets of FileSystemSource: the files a slot is reading, its position, and what was read before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from connect_core.connectors.filesystem.source.files_read import NamesRead, Read, TimesRead
from connect_core.connectors.filesystem.source.piece import Piece
from connect_core.connectors.filesystem.storages.source_files import FileEntry
from connect_core.errors import ConnectError

__all__ = ["BATCH", "NEXT", "POSITION", "SlotState", "slot_partition"]

BATCH = "batch"
NEXT = "next"
POSITION = "position"
_SLOT = "slot"
_ORDER = "order"


@dataclass(frozen=True, slots=True)
class SlotState:
    """A slot reads the pieces of ``batch`` one after the other.

    read: what was read before; next: the current piece, all before it are read; position: how many of its rows are
    read.
    """

    read: Read
    batch: tuple[Piece, ...] = ()
    next: int = 0
    position: int = 0

    @classmethod
    def of(cls, offset: Mapping[str, Any], by_name: bool) -> SlotState:
        """Parse an offset. Raises ConnectError for one that is not of this connector."""
        try:
            read: Read = NamesRead.of(offset) if by_name else TimesRead.of(offset)
            batch = tuple(_piece(row) for row in json.loads(offset[BATCH]))
            return cls(read, batch, int(offset[NEXT]), int(offset[POSITION]))
        except (KeyError, ValueError, TypeError) as error:
            raise ConnectError(
                f"{dict(offset)} is not an offset of FileSystemSource; reset the connector's offsets"
            ) from error

    def to_offset(self) -> dict[str, Any]:
        """Return the offset as a map of scalars."""
        return {**self.read.to_offset(), BATCH: self.batch_text(), NEXT: self.next, POSITION: self.position}

    def batch_text(self) -> str:
        """Return the pieces as JSON."""
        return json.dumps([_row(piece) for piece in self.batch], separators=(",", ":"), ensure_ascii=False)

    def at_end(self) -> SlotState:
        """Return the state once all pieces are read."""
        return replace(self, next=len(self.batch), position=0)

    @property
    def left(self) -> Sequence[Piece]:
        """The pieces that are not completely read."""
        return self.batch[self.next :]

    @property
    def all_read(self) -> Read:
        """All that was read, including the pieces before the current one."""
        return self.read.with_pieces(self.batch[: self.next])


def slot_partition(path: str, slot: int, by_name: bool) -> dict[str, Any]:
    """Return the source partition of a slot."""
    order = {_ORDER: "name"} if by_name else {}
    return {"path": path, _SLOT: slot, **order}


def _row(piece: Piece) -> list[Any]:
    entry = piece.entry
    return [entry.name, entry.size, entry.modified, entry.version, piece.begin, piece.end]


def _piece(row: Sequence[Any]) -> Piece:
    name, size, modified, version, begin, end = row
    return Piece(FileEntry(name, size, modified, modified, version), begin, end)
