"""Plans what the next interval reads: which pieces of which files, and by which slot."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from connect_core.api.offsets import canonical, parse
from connect_core.connectors.filesystem.source.actions import AfterCommit
from connect_core.connectors.filesystem.source.config import SourceSettings
from connect_core.connectors.filesystem.source.files_read import NamesRead, Read, TimesRead, folder_of
from connect_core.connectors.filesystem.source.offset import SlotState, slot_partition
from connect_core.connectors.filesystem.source.piece import Piece
from connect_core.connectors.filesystem.source.pieces import has_rows, pieces_of
from connect_core.connectors.filesystem.storages import FileEntry, SourceFiles
from connect_core.connectors.filesystem.storages.source_files import FileChangedError, FileGoneError
from connect_core.errors import ConnectError

__all__ = ["MOST_PIECES", "SourcePlanner", "changed_text", "slot_of"]

Offsets = Mapping[str, Mapping[str, Any]]

MOST_PIECES = 1000
"""How many pieces one interval reads at most, as they are stored in its row, and in offsets."""

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class SourcePlanner:
    """Plans the bounds of a connector; caches its last result, and the files without rows."""

    files: SourceFiles
    settings: SourceSettings
    tasks: int
    _answer: Offsets = field(default_factory=dict)
    _asked: tuple[float, Offsets] | None = None
    _empty: set[str] = field(default_factory=set)
    _finished: set[str] = field(default_factory=set)

    def latest(self, offsets: Offsets) -> Offsets:
        """Return the bound of each slot; the cached result while it is recent and the offsets are unchanged."""
        now = time.monotonic()
        if self._asked is not None and self._asked[1] == offsets and now - self._asked[0] < self.settings.poll_interval:
            return self._answer
        answer = self._plan(offsets)
        self._asked, self._answer = (now, dict(offsets)), answer
        return answer

    def _plan(self, offsets: Offsets) -> Offsets:
        entries = {entry.name: entry for entry in self.files.listed() if self._is_wanted(entry)}
        states = {slot: self._checked(state, entries) for slot, state in self._states(offsets).items()}
        self._finish(states, entries)
        unfinished = {slot for slot, state in states.items() if self._has_left(state, entries)}
        bounds = {slot: states[slot].at_end() for slot in unfinished}
        bounds |= self._new(states, unfinished, entries)
        mine = {self._key(slot): state.to_offset() for slot, state in bounds.items()}
        return {**offsets, **mine}

    def _finish(self, states: Mapping[int, SlotState], entries: dict[str, FileEntry]) -> None:
        """Apply ``after.commit`` to files that were read: their offsets are committed, and no plan has come since."""
        action = self.settings.after_commit
        if action is AfterCommit.LEAVE:
            return
        read = self._read(states)
        done = {piece.entry.name: piece for state in states.values() for piece in state.batch[: state.next]}
        for name, piece in done.items():
            there = entries.get(name)
            if there is None or there.version != piece.entry.version or piece.digest in self._finished:
                continue
            if all(read.has(part) for part in pieces_of(there, self.settings)):
                action.apply(self.files, there)
                self._finished.add(piece.digest)
                if action is not AfterCommit.MARK:
                    del entries[name]

    def _read(self, states: Mapping[int, SlotState]) -> Read:
        read: Read = NamesRead() if self.settings.by_name else TimesRead()
        for state in states.values():
            read = read.joined(state.all_read)
        return read

    def _states(self, offsets: Offsets) -> dict[int, SlotState]:
        found = {}
        for key, offset in offsets.items():
            slot = slot_of(parse(key), self.settings)
            if slot is not None:
                found[slot] = SlotState.of(offset, self.settings.by_name)
        return found

    def _key(self, slot: int) -> str:
        return canonical(slot_partition(self.settings.path, slot, self.settings.by_name))

    def _is_wanted(self, entry: FileEntry) -> bool:
        pattern = self.settings.pattern
        return entry.size > 0 and (pattern is None or pattern.fullmatch(entry.name) is not None)

    def _is_settled(self, entry: FileEntry) -> bool:
        return time.time_ns() - entry.touched >= self.settings.settle

    def _checked(self, state: SlotState, entries: Mapping[str, FileEntry]) -> SlotState:
        """Return the state of a slot. Raises ConnectError for a file changed half-way, unless its rest is skipped."""
        if not state.left or not state.position or _is_there(state.left[0], entries):
            return state
        if self.settings.is_strict:
            raise ConnectError(changed_text(state.left[0], state.left[0].entry.name not in entries))
        return replace(state, next=state.next + 1, position=0)

    def _has_left(self, state: SlotState, entries: Mapping[str, FileEntry]) -> bool:
        """Return whether a slot must continue its batch; otherwise the rest of it is planned again."""
        if state.position:
            return True
        return all(_is_there(piece, entries) for piece in state.left) and any(map(self._has_rows, state.left))

    def _has_rows(self, piece: Piece) -> bool:
        if piece.digest in self._empty:
            return False
        try:
            found = has_rows(self.files, self.settings.reader, piece)
        except (FileGoneError, FileChangedError):
            return False
        except ConnectError:
            # The task reports the error, and fails.
            return True
        if not found:
            _LOG.info("%s has no rows", piece)
            self._empty.add(piece.digest)
        return found

    def _new(
        self, states: Mapping[int, SlotState], unfinished: Collection[int], entries: Mapping[str, FileEntry]
    ) -> dict[int, SlotState]:
        free = [slot for slot in range(self.tasks) if slot not in unfinished]
        if not free or (self.settings.by_name and unfinished):
            return {}
        read = self._read(states)
        pending = {piece.digest for slot in unfinished for piece in states[slot].left}
        pieces = self._pieces(entries.values())
        unread = [piece for piece in pieces if not read.has(piece)]
        chosen = self._chosen([piece for piece in unread if not pending or piece.digest not in pending])
        if not chosen:
            return {}
        shares = self._dealt(chosen, free)
        before = self._before(states, read, pieces, unread)
        return {slot: SlotState(before(slot), tuple(share)).at_end() for slot, share in shares.items()}

    def _pieces(self, entries: Iterable[FileEntry]) -> list[Piece]:
        """Return all existing pieces, in reading order."""
        pieces = [piece for entry in entries for piece in pieces_of(entry, self.settings)]
        if self.settings.by_name:
            return sorted(pieces, key=lambda piece: folder_of(piece.entry.name))
        return sorted(pieces, key=lambda piece: (*piece.key, piece.begin))

    def _chosen(self, left: Sequence[Piece]) -> list[Piece]:
        """Return the first pieces, at least one of which has rows: otherwise the interval would move no position."""
        settled = self._settled(left)
        first = next((number for number, piece in enumerate(settled) if self._has_rows(piece)), None)
        return [] if first is None else settled[first : first + MOST_PIECES]

    def _settled(self, left: Sequence[Piece]) -> list[Piece]:
        if not self.settings.by_name:
            latest = time.time_ns() - self.settings.settle
            return [piece for piece in left if piece.entry.touched <= latest]
        # The files after an unsettled one in its folder must wait for it.
        settled: list[Piece] = []
        for _, pieces in groupby(left, lambda piece: folder_of(piece.entry.name)[0]):
            for piece in pieces:
                if not self._is_settled(piece.entry):
                    break
                settled.append(piece)
        return settled

    def _dealt(self, pieces: Sequence[Piece], slots: Sequence[int]) -> dict[int, list[Piece]]:
        """Distribute pieces, each group to the slot with the fewest bytes."""
        groups: dict[Any, list[Piece]] = {}
        for number, piece in enumerate(pieces):
            groups.setdefault(folder_of(piece.entry.name)[0] if self.settings.by_name else number, []).append(piece)
        shares: dict[int, list[Piece]] = {slot: [] for slot in slots}
        sizes = dict.fromkeys(slots, 0)
        for group in groups.values():
            slot = min(slots, key=lambda slot: sizes[slot])
            shares[slot] += group
            sizes[slot] += sum(piece.end - piece.begin + 1 for piece in group)
        return {slot: share for slot, share in shares.items() if share}

    def _before(
        self, states: Mapping[int, SlotState], read: Read, pieces: Sequence[Piece], unread: Sequence[Piece]
    ) -> Callable[[int], Read]:
        """Return a function of the slot that returns what it must store of what was read before."""
        if not isinstance(read, TimesRead):
            return lambda slot: states[slot].all_read if slot in states else NamesRead()
        # Only a few of many files are stored individually: only those with their times are examined.
        times = set(read.done.values())
        listed = {piece.digest: piece.entry.name for piece in pieces if piece.entry.modified in times}
        if self.settings.after_commit.removes:
            # Files that were read no longer exist, so none has to count as read because of its time.
            return lambda slot: _times(states, slot).only(listed)
        keys = (piece.key for piece in unread if not self._empty or piece.digest not in self._empty)
        floor = read.floored(listed, min(keys, default=None))
        return lambda slot: _times(states, slot).above(floor, listed)


def _times(states: Mapping[int, SlotState], slot: int) -> TimesRead:
    read = states[slot].all_read if slot in states else TimesRead()
    assert isinstance(read, TimesRead)
    return read


def _is_there(piece: Piece, entries: Mapping[str, FileEntry]) -> bool:
    there = entries.get(piece.entry.name)
    return there is not None and there.version == piece.entry.version


def slot_of(partition: Mapping[str, Any], settings: SourceSettings) -> int | None:
    """Return the slot of a source partition, ``None`` for one of another path or order."""
    slot = partition.get("slot")
    is_mine = isinstance(slot, int) and slot_partition(settings.path, slot, settings.by_name) == dict(partition)
    return slot if is_mine else None


def changed_text(piece: Piece, is_gone: bool) -> str:
    """Return the message for a file that is no longer the one whose reading began."""
    what = "is gone" if is_gone else "has changed"
    return (
        f"{piece.entry.name} {what} after some of its rows were read; put it back as it was, or set "
        "behavior.on.changed.files=skip to leave out the rest"
    )
