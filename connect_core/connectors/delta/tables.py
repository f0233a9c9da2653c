"""Finds or creates Delta tables for tasks, and translates delta-rs's errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from pyarrow.fs import FileSystem

from connect_core.connectors.delta.config import AUTO_CREATE, PARTITION_COLUMNS, UPSERT, Settings
from connect_core.connectors.delta.files import files_of
from connect_core.connectors.delta.places import Places
from connect_core.connectors.delta.store_errors import without_answers
from connect_core.connectors.lake.decisions import ConflictError
from connect_core.connectors.lake.key_columns import key_columns_of
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import creatable, merged_schema, plain_field
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError

__all__ = ["ONE_TRY", "Tables", "columns_of", "delta_errors", "ensure_keys", "ensure_updatable", "ensure_writable"]

_TRIES = 20
_PAUSE = 0.05
_CONSTRAINT = "delta.constraints."
_COMPUTED = ("delta.generationExpression", "delta.identity.", "delta.invariants")
"""In the metadata of columns."""
_TRIED_AGAIN = re.compile(r"after [1-9][0-9]* retries")
"""What delta-rs says of a request to a store that may succeed later; reading a log it raises a DeltaError about it."""
_UNSUPPORTED = "Unsupported table features"
"""What delta-rs says of a table's features for writers that it lacks, as if another writer were first."""
ONE_TRY = 0
"""How often delta-rs itself retries a commit: not at all, as it would not repeat the caller's check."""


@contextmanager
def delta_errors(what: str) -> Iterator[None]:
    """Raise delta-rs's errors as errors of this project. Raises ConflictError if another writer was first."""
    try:
        yield
    except CommitFailedError as error:
        if _UNSUPPORTED in str(error):
            # Tried again, it would fail again: no other writer was first.
            text = f"{what} has features that only other engines write; drop them, or write another table: {error}"
            raise ConnectError(text) from error
        raise ConflictError(str(error)) from error
    except (OSError, DeltaError) as error:
        # Without its cause, which a trace would show: what a store answered is in it.
        said = f"{what}: {without_answers(str(error))}"
        if isinstance(error, OSError) or _TRIED_AGAIN.search(str(error)):
            raise RetriableError(said) from None
        raise ConnectError(said) from None


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one path."""

    places: Places
    settings: Settings

    def find(self, name: TableName) -> DeltaTable | None:
        """Return the current version of a table, ``None`` if there is none."""
        return self.open(self.places.table(name))

    def open(self, place: str) -> DeltaTable | None:
        """Return the table at a place, ``None`` if there is none."""
        with delta_errors(place):
            try:
                return DeltaTable(place, storage_options=dict(self.places.options))
            except TableNotFoundError:
                return None

    def files(self, place: str) -> FileSystem:
        """Return the file system of a folder."""
        return files_of(place, self.places.options)

    def grown(self, name: TableName, wanted: pa.Schema) -> DeltaTable:
        """Return the table with at least these columns, created or evolved if that is allowed.

        Raises ConfigError, DataError if columns conflict with those that another task has created meanwhile.
        """
        for number in range(_TRIES):
            table = self.find(name)
            try:
                if table is None:
                    self._create(name, wanted)
                elif not self._evolve(name, table, wanted):
                    return table
            except ConflictError:
                time.sleep(_PAUSE * number)
        raise RetriableError(f"table {name[-1]} was changed by others {_TRIES} times while columns were added")

    def _create(self, name: TableName, wanted: pa.Schema) -> None:
        if not self.settings.creates:
            raise ConfigError(
                AUTO_CREATE, "false", f"table {name[-1]} does not exist: create it, or let {AUTO_CREATE}=true"
            )
        missing = [column for column in self.settings.partition_columns if column not in wanted.names]
        if missing:
            text = f"the records for table {name[-1]} have no field of this name to partition by"
            raise ConfigError(PARTITION_COLUMNS, missing[0], text)
        with delta_errors(f"table {name[-1]}"):
            try:
                DeltaTable.create(
                    self.places.table(name),
                    creatable(wanted),
                    mode="error",
                    partition_by=list(self.settings.partition_columns),
                    storage_options=dict(self.places.options),
                )
            except DeltaError as error:
                if self.find(name) is None:
                    raise
                raise ConflictError(str(error)) from error

    def _evolve(self, name: TableName, table: DeltaTable, wanted: pa.Schema) -> bool:
        """Add the missing columns → whether any were missing."""
        existing = columns_of(table)
        merged = merged_schema(existing, wanted, self.settings.evolution)
        if merged.equals(existing):
            return False
        changed = [part for part in merged if existing.get_field_index(part.name) < 0
                   or existing.field(part.name) != part]  # fmt: skip
        fields = DeltaSchema.from_arrow(pa.schema(changed)).fields
        with delta_errors(f"table {name[-1]}"):
            try:
                table.alter.add_columns(fields, commit_properties=CommitProperties(max_commit_retries=ONE_TRY))
            except DeltaError as error:
                if isinstance(error, CommitFailedError):
                    raise
                raise DataError(f"table {name[-1]} cannot take the records' columns: {error}") from error
        return True


def ensure_writable(name: TableName, table: DeltaTable) -> None:
    """Raise ConnectError for a table whose readers rely on what delta-rs does not do for files that are added."""
    found = table.metadata().configuration
    checked = next((key for key in found if key.startswith(_CONSTRAINT)), None)
    computed = next(_computed(json.loads(table.schema().to_json())), None)
    text = None
    if found.get("delta.columnMapping.mode", "none") != "none":
        text = "maps the names of its columns, and readers would find nulls; drop the feature columnMapping"
    elif checked:
        text = f"has the constraint {checked.removeprefix(_CONSTRAINT)}, which is not checked here; drop it"
    elif computed:
        text = f"has a column with {computed}, which is not kept here; replace it by a plain one"
    if text:
        raise ConnectError(f"table {name[-1]} {text}, or write another table")


def _computed(part: Any) -> Iterator[str]:
    """Yield what the columns of a schema, as JSON, say of values that a writer has to compute or check."""
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from (key for key in one.get("metadata") or {} if key.startswith(_COMPUTED))
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def ensure_updatable(name: TableName, table: DeltaTable) -> None:
    """Raise ConfigError for a table whose files cannot be read as they are, or may not be removed."""
    protocol, found = table.protocol(), table.metadata().configuration
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    texts = {
        "deletionVectors": "has deletion vectors; purge them and drop the feature: REORG TABLE … APPLY (PURGE), ALTER "
        "TABLE … DROP FEATURE deletionVectors",
        "columnMapping": "maps the names of its columns; write another table, or drop the feature columnMapping",
    }
    text = next((text for feature, text in texts.items() if feature in features), None)
    if found.get("delta.columnMapping.mode", "none") != "none":
        text = texts["columnMapping"]
    if found.get("delta.appendOnly", "false").lower() == "true":
        text = "is only for appending; unset its property delta.appendOnly, or append"
    if text:
        raise ConfigError(UPSERT, "true", f"table {name[-1]} {text}")


def ensure_keys(tables: Tables, names: Sequence[TableName]) -> None:
    """Check that rows of these tables can be found by their keys, if they are to be updated. Raises ConfigError."""
    for name in names if tables.settings.lake.upserts else ():
        table = tables.find(name)
        if table is not None:
            key_columns_of(name[-1], tables.settings.key, columns_of(table))
            ensure_updatable(name, table)
            ensure_writable(name, table)


def columns_of(table: DeltaTable) -> pa.Schema:
    """Return a table's columns in Arrow's types, in the form that rows have."""
    schema = pa.schema(table.schema().to_arrow())
    return pa.schema([plain_field(part) for part in schema])
