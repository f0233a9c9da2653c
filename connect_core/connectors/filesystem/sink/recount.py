"""Compares manifests with the existing files: read-only, with one manifest in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any

from connect_core.api.recount import Difference, RecountedInterval, RowsPerRecord
from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.connectors.control_folder import ControlFolder
from connect_core.connectors.filesystem.sink.file_recount import FileRecount
from connect_core.connectors.filesystem.sink.layout import Layout

__all__ = ["Recount"]

_TOGETHER = 1000
_HIDDEN = "_connect"
Key = tuple[int, int]
"""Incarnation and sequence."""


@dataclass(slots=True)
class Recount:
    """One pass over a connector's manifests, the newest first. It stores only eight bytes of each file's name."""

    layout: Layout
    control: ControlFolder
    files: FileRecount
    rows_per_record: RowsPerRecord = RowsPerRecord.ANY
    _named: set[bytes] = field(default_factory=set)
    _homes: set[str] = field(default_factory=set)
    _newest: Key = (0, 0)
    _knows_others: bool = False

    def intervals(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        """Yield the intervals that have a manifest."""
        for key in self.control.intervals():
            self._newest = max(self._newest, key)
            marker = self._marker(self.control, key) if key[1] >= first else None
            if marker is None:
                continue
            if key > _place(last):
                # A later interval may have rewritten a file with an equal name.
                self._note(_files(marker))
                continue
            yield self._interval(key, marker)

    def foreign_objects(self) -> Iterator[Difference]:
        """Yield the files in the topics' folders that no manifest names; hidden ones are not data."""
        published = self.layout.storage.published()
        for home in sorted(self._homes):
            names = iter(()) if published is None or _is_hidden(home) else published.names(home)
            data = (name for name in names if not any(part[0] in "._" for part in name.split("/")))
            unknown = (name for name in data if _mark(name) not in self._named)
            while some := list(islice(unknown, _TOGETHER)):
                self._look_again()
                for name in some:
                    if _mark(name) not in self._named:
                        yield Difference("foreign", self.layout.storage.address(name), "not listed in any manifest")

    def _interval(self, key: Key, marker: CommitMarker) -> RecountedInterval:
        named = list(_files(marker))
        existing = [file for file in named if _mark(file["name"]) not in self._named]
        self._note(named)
        told = [self.files.recounted(file, key[1]) for file in existing]
        notes = {note for one in told for note in one.notes}
        if len(existing) < len(named):
            notes.add("files that a later interval has rewritten are counted there")
        if any(_is_hidden(str(file.get("home", ""))) for file in named):
            notes.add("files are named by a template, so foreign files cannot be recognized")
        counted = [one.rows for one in told if one.rows is not None]
        return RecountedInterval(
            key=self._key(key),
            ranges=marker.ranges or (),
            is_aborted=marker.aborted,
            is_foreign=marker.is_foreign,
            moves=marker.moves,
            rows=sum(file["rows"] for file in named),
            found=sum(counted) if len(counted) == len(named) else None,
            parts=len(existing),
            rows_per_record=self.rows_per_record,
            differences=tuple(difference for one in told for difference in one.differences),
            notes=tuple(sorted(notes)),
        )

    def _look_again(self) -> None:
        """Read what was committed since, and the files in other connectors' manifests, as these are not foreign."""
        newest = self._newest
        for key in self.control.intervals():
            if key <= newest:
                break
            self._newest = max(self._newest, key)
            self._note(_files(self._marker(self.control, key)))
        if not self._knows_others:
            self._knows_others = True
            for control in self._others():
                for key in control.intervals():
                    self._named |= {_mark(file["name"]) for file in _files(self._marker(control, key))}

    def _others(self) -> Iterator[ControlFolder]:
        folder = self.control.path.parent
        for name in self.control.store.names(folder):
            if not name.startswith("+") and folder / name != self.control.path:
                yield ControlFolder(folder / name, folder, store=self.control.store)

    def _note(self, files: Iterable[Mapping[str, Any]]) -> None:
        for file in files:
            self._named.add(_mark(file["name"]))
            self._homes.add(str(file.get("home") or self.layout.home(file["topic"])))

    def _marker(self, control: ControlFolder, key: Key) -> CommitMarker | None:
        return control.marker(self._key(key))

    def _key(self, key: Key) -> IntervalKey:
        return IntervalKey(self.control.path.name, *key, 0)


def _files(marker: CommitMarker | None) -> Iterable[Mapping[str, Any]]:
    return () if marker is None or marker.aborted else (marker.detail or {})["files"]


def _is_hidden(home: str) -> bool:
    return home.startswith(f"{_HIDDEN}/")


def _place(key: IntervalKey) -> Key:
    return key.incarnation, key.sequence


def _mark(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
