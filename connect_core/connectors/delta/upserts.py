"""The files of an interval that replaces rows: those to remove, copies without these rows, and the new ones."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow.fs import FileSystem

from connect_core.connectors.delta.data_files import FILE_BYTES
from connect_core.connectors.delta.sources import DeltaSource, removable, sources_of
from connect_core.connectors.delta.tables import columns_of, delta_errors
from connect_core.connectors.lake.keys import KeySet
from connect_core.connectors.lake.rewriting import Rewriting
from connect_core.connectors.lake.staged_keys import staged_keys

__all__ = ["REWRITE", "Upsert", "UpsertedFiles", "remove_copies"]

REWRITE = "connect-core.rewrite"
"""The folder of the files that a version's commit wrote, among those of all attempts at it."""


@dataclass(frozen=True, slots=True)
class UpsertedFiles:
    """``added``: files as a decision names them; ``removed``: paths as delta-rs expects; ``token``: of this attempt."""

    added: list[Mapping[str, Any]]
    removed: list[str]
    token: str
    copies: list[str]
    """Every file that was written."""


@dataclass(slots=True)
class Upsert:
    """One attempt at an interval's version of a table. ``folder``: where this interval's copies are written."""

    name: str
    table: DeltaTable
    files: FileSystem
    folder: str
    _token: str = field(default_factory=lambda: secrets.token_hex(8))
    _written: list[Rewriting[Mapping[str, Any]]] = field(default_factory=list)

    def upserted(self, content: Mapping[str, Any]) -> UpsertedFiles:
        """Copy the data files that have some of the keys, without these rows.

        Raises ConnectError, after which nothing is left of the copies.
        """
        with ExitStack() as undone:
            undone.callback(lambda: remove_copies(self.files, self._places()))
            with delta_errors(f"table {self.name}"):
                found = self._upserted(content)
            undone.pop_all()
        return found

    def _upserted(self, content: Mapping[str, Any]) -> UpsertedFiles:
        staged = staged_keys(self.name, columns_of(self.table), content, self._load)
        copies = self._drop(sources_of(self.table, self.files), staged.all)
        added = list(copies.added)
        for mine, shared in staged.lists:
            again = self._drop([self._staged(file) for file in mine], shared) if len(shared) else None
            gone = set() if again is None else {file["path"] for file in again.removed}
            added += [file for file in mine if file["path"] not in gone]
            added += [] if again is None else again.added
        return UpsertedFiles(
            added, [removable(self.name, file) for file in copies.removed], self._token, self._places()
        )

    def _drop(self, sources: list[DeltaSource], keys: KeySet) -> Rewriting[Mapping[str, Any]]:
        rewriting = Rewriting[Mapping[str, Any]](f"{self.folder}/{self._token}/{len(self._written)}", FILE_BYTES)
        self._written.append(rewriting)
        rewriting.drop(sources, keys)
        return rewriting

    def _staged(self, file: Mapping[str, Any]) -> DeltaSource:
        """Return a staged file as a source."""
        columns = columns_of(self.table)
        values = {
            name: None if text is None else pa.scalar(text).cast(columns.field(name).type).as_py()
            for name, text in file["partition"].items()
        }
        return DeltaSource(self.files, columns, file, values, {}, {})

    def _places(self) -> list[str]:
        return [place for one in self._written for place in one.places]

    def _load(self, place: str) -> pa.Table:
        with self.files.open_input_file(place) as source:
            return pq.read_table(source)


def remove_copies(files: FileSystem, places: list[str]) -> None:
    """Remove files that no version names."""
    for place in places:
        with suppress(OSError, DeltaError):
            files.delete_file(place)
