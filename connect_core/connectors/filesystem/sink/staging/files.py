"""All files of a task: when one ends and the next begins, how many are open, and how much is buffered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa

from connect_core.api.records import TopicPartition
from connect_core.connectors.filesystem.columns import ColumnKinds
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.sink.staging.parts import Parts
from connect_core.connectors.filesystem.sink.staging.staged_file import FileKey, StagedData, StagedFolder

__all__ = ["Rotation", "StagedFiles", "Target"]

Target: TypeAlias = tuple[TopicPartition, FileKey]
"""The partition as read, and the file for its rows."""

_OPEN = 64
"""How many files a task has open at most: one per folder, of which there may be one for each value of a field."""
_BUFFERED = 256 * 1024 * 1024
"""How many bytes a task buffers at most, in all folders together."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """When a file ends before its interval: after this many rows, or bytes of rows in memory; 0: never."""

    rows: int = 0
    bytes: int = 0
    names_first: bool = False
    """Whether each file is named by its own first offset, not by that of the range."""

    def room(self, file: StagedFolder) -> int | None:
        """Return how many more rows a file may take, ``None``: any number."""
        if self.bytes and file.bytes >= self.bytes:
            return 0
        return max(0, self.rows - file.rows) if self.rows else None


@dataclass(slots=True)
class StagedFiles:
    """Files by their target; ``begin`` creates the parts of a new one, given its number."""

    begin: Callable[[int, TopicPartition, FileKey], Parts]
    rotation: Rotation = Rotation()
    _current: dict[Target, StagedFolder] = field(default_factory=dict)
    _ended: list[tuple[TopicPartition, StagedFolder]] = field(default_factory=list)
    _open: dict[Target, StagedFolder] = field(default_factory=dict)
    """Targets with an open file; the one used last comes last."""
    _buffered: int = 0
    _begun: set[Target] = field(default_factory=set)
    """Targets that have a file: the names of later ones contain their first offset."""

    def columns(self, target: Target) -> ColumnKinds:
        """Return the columns found so far in a target's rows."""
        file = self._current.get(target)
        return () if file is None else file.columns

    def is_schemaless(self, target: Target) -> bool | None:
        """Return whether a target's file has rows without a schema, ``None`` as long as all its values are null."""
        file = self._current.get(target)
        return None if file is None else file.parts.is_schemaless

    def check(self, target: Target, columns: ColumnKinds) -> None:
        """Raise DataError if an earlier row of a target's file would not fit these columns."""
        file = self._current.get(target)
        if file is not None:
            file.parts.check(columns)

    def check_topic(self, topic: str, columns: ColumnKinds) -> None:
        """Raise DataError if an earlier row of a topic, without a schema, would not fit these columns."""
        for _, file in self._all():
            if file.key.topic == topic and file.parts.is_schemaless is not False:
                file.parts.check(columns)

    def add(self, target: Target, rows: Rows, columns: ColumnKinds, offsets: pa.Array) -> None:
        """Add rows of a target; ``columns`` contains their columns and those of all earlier rows."""
        while rows.length:
            file = self._current.get(target) or self._begin(target, self._next_key(target, offsets))
            room = self.rotation.room(file)
            if room == 0:
                self.end(target)
                file = self._begin(target, self._next_key(target, offsets))
                room = self.rotation.room(file)
            count = rows.length if room is None else min(room, rows.length)
            self._add(target, file, rows.slice(0, count), columns, offsets)
            rows, offsets = rows.slice(count), offsets.slice(count)

    def finish(
        self, read: TopicPartition, shared: Callable[[str], ColumnKinds], final: Callable[[FileKey], str]
    ) -> list[StagedData]:
        """Complete the files of a partition.

        shared: the columns of a topic's schemaless rows; final: the name of a file, empty if it is not certain.
        """
        files = [file for place, file in self._all() if place == read]
        return [file.finish(shared(file.key.topic), final(file.key)) for file in files]

    def discard(self) -> None:
        """Close open files."""
        for _, file in self._all():
            file.parts.discard()

    def _all(self) -> Iterator[tuple[TopicPartition, StagedFolder]]:
        yield from self._ended
        for (read, _), file in self._current.items():
            yield read, file

    def _next_key(self, target: Target, offsets: pa.Array) -> FileKey:
        is_named = self.rotation.names_first or target in self._begun
        self._begun.add(target)
        return replace(target[1], first=offsets[0].as_py()) if is_named else target[1]

    def _begin(self, target: Target, key: FileKey) -> StagedFolder:
        number = len(self._ended) + len(self._current)
        file = self._current[target] = StagedFolder(key, self.begin(number, target[0], key))
        return file

    def end(self, target: Target) -> None:
        """Complete the file of a target; further rows start another one."""
        file = self._current.pop(target)
        self._buffered -= file.parts.buffered
        self._open.pop(target, None)
        file.parts.flush()
        file.parts.close()
        self._ended.append((target[0], file))

    def _add(self, target: Target, file: StagedFolder, rows: Rows, columns: ColumnKinds, offsets: pa.Array) -> None:
        before = file.parts.buffered
        file.add(rows, columns, offsets)
        self._buffered += file.parts.buffered - before
        self._note(target, file)
        if self._buffered > _BUFFERED:
            self._make_room()

    def _note(self, target: Target, file: StagedFolder) -> None:
        """Close the least recently used file if too many are open; further rows for it start another part."""
        self._open.pop(target, None)
        if file.parts.is_open:
            self._open[target] = file
        if len(self._open) > _OPEN:
            self._open.pop(next(iter(self._open))).parts.close()

    def _make_room(self) -> None:
        """Write buffered rows, from the largest buffer on, until half of the limit is free."""
        by_size = sorted(self._current.items(), key=lambda item: item[1].parts.buffered, reverse=True)
        for target, file in by_size:
            if self._buffered <= _BUFFERED // 2:
                return
            self._buffered -= file.parts.buffered
            file.parts.flush()
            self._note(target, file)
