"""Groups ordered rows into the fewest writes that leave the table as writing row by row would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.jdbc.catalog import Table
from connect_core.connectors.jdbc.dialects.writes import Verb, Write
from connect_core.connectors.jdbc.sink.clear_keys import rows_with_clear_keys
from connect_core.connectors.jdbc.sink.config import InsertMode

__all__ = ["FittedRows", "writes_of"]


@dataclass(frozen=True, slots=True)
class FittedRows:
    """Rows in the form of their table's columns; ``deleted`` marks those to delete by key."""

    table: Table
    keys: tuple[str, ...]
    data: pa.Table
    deleted: pa.Array

    @property
    def has_keys_only(self) -> bool:
        """Whether all rows are deletions, which have only keys."""
        return bool(self.deleted.false_count == 0)


def writes_of(fitted: Sequence[FittedRows], mode: InsertMode, statement_rows: int) -> Iterator[Write]:
    """Return the writes to carry out in order."""
    for run in _runs(fitted):
        # Decimals of one column may have two widths.
        data = pa.concat_tables([rows.data for rows in run], promote_options="permissive")
        deleted = pa.chunked_array([rows.deleted for rows in run]).combine_chunks()
        shape = next((rows for rows in run if not rows.has_keys_only), run[0])
        for verb, rows in _split(data.select(shape.data.column_names), deleted, shape, mode):
            if rows.num_rows:
                yield Write(verb, shape.table, shape.keys, rows, statement_rows)


def _runs(fitted: Sequence[FittedRows]) -> Iterator[list[FittedRows]]:
    """Group adjacent rows of the same form; tombstones join whichever group they are next to."""
    run: list[FittedRows] = []
    shape: FittedRows | None = None
    for rows in fitted:
        if run and not _joins(rows, shape or run[0]):
            yield run
            run, shape = [], None
        run.append(rows)
        if not rows.has_keys_only:
            shape = rows
    if run:
        yield run


def _joins(rows: FittedRows, shape: FittedRows) -> bool:
    if rows.table != shape.table or rows.keys != shape.keys:
        return False
    if rows.has_keys_only or shape.has_keys_only:
        wide, narrow = (shape, rows) if rows.has_keys_only else (rows, shape)
        return all(wide.data.schema.field(key).type == narrow.data.schema.field(key).type for key in rows.keys)
    return bool(rows.data.schema.equals(shape.data.schema))


Part = tuple[Verb, pa.Table]


def _split(data: pa.Table, deleted: pa.Array, shape: FittedRows, mode: InsertMode) -> Iterator[Part]:
    keys = shape.keys
    if mode is InsertMode.UPSERT:
        if not deleted.true_count:
            yield from _upserts(data, deleted, keys)
            return
        clear = rows_with_clear_keys(data.select(keys), shape.table)
        yield from _upserts(data.filter(clear), deleted.filter(clear), keys)
        data, deleted = data.filter(pc.invert(clear)), deleted.filter(pc.invert(clear))
    begin = 0
    for is_deleted, same in groupby(deleted.to_pylist() if deleted.true_count else [False] * len(deleted)):
        count = len(list(same))
        yield _plain(data.slice(begin, count), keys, is_deleted, mode)
        begin += count


def _plain(data: pa.Table, keys: tuple[str, ...], is_deleted: bool, mode: InsertMode) -> Part:
    if is_deleted:
        return Verb.DELETE, _last_of_each(data.select(keys), keys)
    if mode is InsertMode.UPDATE:
        return Verb.UPDATE, _last_of_each(data, keys)
    if mode is InsertMode.UPSERT:
        return Verb.UPSERT, _last_of_each(data, keys)
    return Verb.INSERT, data


def _upserts(data: pa.Table, deleted: pa.Array, keys: tuple[str, ...]) -> Iterator[Part]:
    """Delete every key with a tombstone first, as a row after it starts over; then write the last row of each key."""
    if deleted.true_count:
        yield Verb.DELETE, _last_of_each(data.filter(deleted).select(keys), keys)
    last = _last_rows(data, keys)
    if deleted.true_count:
        last = last.filter(pc.invert(deleted.take(last)))
    yield Verb.UPSERT, data if len(last) == data.num_rows else data.take(last)


def _last_of_each(data: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    last = _last_rows(data, keys)
    return data if len(last) == data.num_rows else data.take(last)


def _last_rows(data: pa.Table, keys: tuple[str, ...]) -> pa.Array:
    """Return the rows that are the last of their key, in order."""
    numbered = data.select(keys).append_column("", pa.array(np.arange(data.num_rows)))
    names = [f"k{index}" for index in range(len(keys))]
    grouped = numbered.rename_columns([*names, "row"]).group_by(names).aggregate([("row", "max")])
    return pa.array(np.sort(grouped["row_max"].to_numpy()), pa.int64())
