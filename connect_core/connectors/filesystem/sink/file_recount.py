"""Compares one file with its manifest: whether it exists, its size and its number of rows."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connect_core.api.recount import Difference
from connect_core.connectors.filesystem.choices import FORMATS
from connect_core.connectors.filesystem.formats.format import Format
from connect_core.connectors.filesystem.storages.published import PublishedFiles
from connect_core.connectors.filesystem.storages.storage import Storage

__all__ = ["FileRecount", "RecountedFile"]

_SELF_DESCRIBING = ("parquet", "orc", "avro")
"""Formats whose files can be read independently of the current settings."""
_BROKEN = (pa.ArrowException, OSError, EOFError, ValueError, KeyError, IndexError, TypeError, zlib.error)
"""What the libraries raise for truncated or overwritten files."""


@dataclass(frozen=True, slots=True)
class RecountedFile:
    """The result for one file; ``rows`` is ``None`` if they were not counted."""

    rows: int | None = None
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRecount:
    """Recounts files of a storage, and the rows of those in a format that supports it."""

    storage: Storage
    published: PublishedFiles
    format: Format

    def recounted(self, file: Mapping[str, Any], sequence: int) -> RecountedFile:
        """Return the result for a file that a manifest names. Raises ConnectError if the storage does not respond."""
        name = str(file["name"])
        place = self.storage.address(name)
        size = self.published.size(name)
        if size is None:
            return RecountedFile(differences=(_differs("missing", place, f"{file['rows']} rows", "", sequence),))
        wrong = []
        if size != file["size"]:
            wrong.append(_differs("size", place, f"{file['size']} bytes", f"{size} bytes", sequence))
        rows, reason = self._rows(name)
        if rows is None:
            notes = () if reason else (f"rows of {_ending(name)} files cannot be counted",)
            wrong += [_differs("unreadable", place, f"{file['rows']} rows", reason, sequence)] if reason else []
            return RecountedFile(None, tuple(wrong), notes)
        if rows != file["rows"]:
            wrong.append(_differs("rows", place, f"{file['rows']} rows", f"{rows} rows", sequence))
        return RecountedFile(rows, tuple(wrong))

    def _rows(self, name: str) -> tuple[int | None, str]:
        """Return the number of rows; ``None`` with the reason if unreadable, without one if they are not counted."""
        counter = self._counter(name)
        if counter is None:
            return None, ""
        try:
            with self.published.open(name) as source:
                return counter.count(source), ""
        except _BROKEN as error:
            return None, str(error).partition("\n")[0][:200] or type(error).__name__

    def _counter(self, name: str) -> Format | None:
        if name.endswith(f".{self.format.extension}"):
            return self.format
        # Written with other settings: some formats can be read without them.
        told = next((one for one in _SELF_DESCRIBING if name.endswith(f".{one}")), None)
        return None if told is None else FORMATS.built_in[told]()


def _differs(kind: str, place: str, said: str, found: str, sequence: int) -> Difference:
    return Difference(kind, place, said, found, sequence)


def _ending(name: str) -> str:
    last = name.rpartition("/")[2]
    return f".{last.partition('.')[2]}"
