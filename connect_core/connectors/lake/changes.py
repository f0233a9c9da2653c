"""Records as changes of rows that are found by their key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.batch_rows import Extras, rows_of_batch
from connect_core.connectors.filesystem.partitioners.value_fields import field_values
from connect_core.connectors.filesystem.tombstones import present
from connect_core.connectors.lake.table_rows import PLACEHOLDER, arrow_rows
from connect_core.errors import DataError

__all__ = ["Change", "Changes", "Upserts", "changes_of", "key_rows", "parts_of"]


class Change(Enum):
    """What becomes of the row with a record's key."""

    REPLACE = "replace"
    DELETE = "delete"
    """Its key is in the record's value."""
    TOMBSTONE = "tombstone"
    """It is deleted, and its key is the record's key."""


@dataclass(frozen=True, slots=True)
class Upserts:
    """How records say what becomes of rows."""

    tombstones: bool
    """Whether a null value deletes the row of the record's key."""
    operation: str = ""
    """The field of the value (a.b in structs) that begins with D for a deletion, in any case; none if empty."""
    operation_key: str = ""
    """The setting that names it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of one kind: complete rows, or rows in which only the key's columns matter."""

    rows: pa.Table
    offsets: pa.Array
    """int64: of two changes with one key, the later one is valid."""
    change: Change


def parts_of(batch: Batch, upserts: Upserts) -> Iterator[tuple[Change, Batch]]:
    """Return the records of each kind of change. Raises DataError without the field of the operation."""
    there = _mask(present(batch))
    if not there.all():
        yield Change.TOMBSTONE, batch.filter(pa.array(~there))
        batch = batch.filter(pa.array(there))
    deleted = _deleted(batch, upserts) if len(batch) else np.zeros(0, bool)
    if deleted.any():
        yield Change.DELETE, batch.filter(pa.array(deleted))
        batch = batch.filter(pa.array(~deleted))
    if len(batch):
        yield Change.REPLACE, batch


def changes_of(change: Change, batch: Batch, extras: Extras) -> Changes:
    """Return a uniform batch as changes. Raises DataError."""
    if change is Change.TOMBSTONE:
        rows = arrow_rows(rows_of_batch(replace(batch, value=batch.key), Extras()))
    else:
        rows = arrow_rows(rows_of_batch(batch, extras))
    return Changes(rows, batch.offset, change)


def key_rows(changes: Changes, columns: Sequence[str], ignores_case: bool) -> pa.Table:
    """Return the key of each change. Raises DataError naming a column that is missing or null."""
    given = {_folded(name, ignores_case): number for number, name in enumerate(changes.rows.column_names)}
    is_tombstone = changes.change is Change.TOMBSTONE
    if is_tombstone and len(columns) == 1 and changes.rows.column_names == [PLACEHOLDER]:
        given = {_folded(columns[0], ignores_case): 0}
    found = []
    for name in columns:
        number = given.get(_folded(name, ignores_case))
        column = None if number is None else changes.rows.column(number)
        if column is None or column.null_count:
            where = "the value is null, and the record's key" if is_tombstone else "the value"
            raise DataError(f"{where} has no value for {name}, by which its row is found")
        found.append(column)
    return pa.Table.from_arrays(found, names=list(columns))


def _deleted(batch: Batch, upserts: Upserts) -> np.ndarray[Any, Any]:
    if not upserts.operation:
        return np.zeros(len(batch), bool)
    try:
        found = field_values(batch.value, upserts.operation)
    except DataError as error:
        raise DataError(
            f"the value has no field {upserts.operation}, which {upserts.operation_key} names as its operation"
        ) from error
    if isinstance(found, pa.Array):
        coded = found.dictionary_encode()
        kinds = np.array([_is_deletion(value) for value in coded.dictionary.to_pylist()] + [False], bool)
        return np.asarray(kinds[coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)])
    return np.array([_is_deletion(value) for value in found], bool)


def _is_deletion(value: Any) -> bool:
    return value is not None and str(value).strip()[:1].upper() == "D"


def _folded(name: str, ignores_case: bool) -> str:
    return name.lower() if ignores_case else name


def _mask(array: pa.Array) -> np.ndarray[Any, Any]:
    return np.asarray(array.to_numpy(zero_copy_only=False), bool)
