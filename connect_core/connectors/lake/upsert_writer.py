"""Stages the changes of one table: the newest row of each key as data files, and the keys that they replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from connect_core.connectors.lake.changes import Change, Changes, key_rows
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.key_columns import KeySetting, key_columns_of
from connect_core.connectors.lake.keys import newest
from connect_core.connectors.lake.spool import Spool
from connect_core.connectors.lake.types import Evolution

__all__ = ["KeyedWriter", "UpsertWriter"]

_SPOOLED = 64 * 1024 * 1024
"""How many bytes of one table are held in memory at most."""


class KeyedWriter(Protocol):
    """The TableWriter of a table whose rows have a key."""

    def fit(self, rows: pa.Table) -> tuple[pa.Schema, pa.Table]:
        """Return rows in the table's future types, and its future columns. Raises DataError, ConfigError."""

    def plan(self, columns: pa.Schema) -> None:
        """Let the table have these columns once rows are written."""

    def add(self, fit: tuple[pa.Schema, pa.Table]) -> None:
        """Add what ``fit`` returned."""

    def existing(self) -> tuple[pa.Schema, Sequence[str]] | None:
        """Return the columns that the table has or will have, and those that it declares as its key.

        ``None`` if there is no table and no rows were planned.
        """

    def finish(self) -> Mapping[str, Any]:
        """Complete the data files and return them with their table; nothing if there are none."""

    def finish_keys(self, keys: pa.Table) -> Mapping[str, Any]:
        """Write keys to a file of their own → the table, and the file as ``keys``; nothing if there is no table."""

    def discard(self) -> None:
        """Close open files."""


@dataclass(frozen=True, slots=True)
class _Fit:
    keys: pa.Table
    offsets: pa.Array
    planned: pa.Schema | None = None
    rows: pa.Table | None = None
    """Rows in the table's columns; ``None`` for deletions."""


@dataclass(slots=True)
class UpsertWriter:
    """Holds the keys of the interval in memory and its rows on disk: which of them are valid is known at its end."""

    name: str
    """The table's, in messages."""
    key: KeySetting
    inner: KeyedWriter
    _spool: Spool = field(default_factory=Spool)
    _keys: list[pa.Table] = field(default_factory=list)
    _offsets: list[pa.Array] = field(default_factory=list)
    _numbers: list[np.ndarray[Any, Any]] = field(default_factory=list)
    """The number of each change's row in the spool, -1 for deletions."""
    _rows: int = 0

    @property
    def buffered(self) -> int:
        """How many bytes ``flush`` would free."""
        return self._spool.buffered

    def fit(self, changes: Changes) -> _Fit:
        """Return changes ready for ``add``. Raises DataError, ConfigError."""
        columns = self._columns()
        keys = key_rows(changes, columns, self.key.ignores_case)
        if changes.change is not Change.REPLACE:
            return _Fit(self._typed(keys), changes.offsets)
        planned, rows = self.inner.fit(_required(changes.rows, columns, self.key.ignores_case))
        keys = rows.select(list(key_columns_of(self.name, replace(self.key, columns=columns), planned)))
        return _Fit(keys, changes.offsets, planned, rows)

    def add(self, fit: _Fit) -> None:
        """Keep changes until the end of the interval."""
        count = len(fit.keys)
        self._keys.append(fit.keys)
        self._offsets.append(fit.offsets)
        if fit.rows is None or fit.planned is None:
            self._numbers.append(np.full(count, -1, np.int64))
            return
        self.inner.plan(fit.planned)
        self._numbers.append(np.arange(self._rows, self._rows + count))
        self._rows += count
        self._spool.add(fit.rows)
        if self.buffered >= _SPOOLED:
            self.flush()

    def flush(self) -> None:
        """Move rows to the worker's disk."""
        self._spool.flush()

    def finish(self) -> Mapping[str, Any]:
        """Stage the newest row of each key as data files, and the keys that they replace."""
        if not self._keys or self.inner.existing() is None:
            return {}
        keys = pa.concat_tables([self._typed(some) for some in self._keys])
        offsets = np.concatenate([some.to_numpy() for some in self._offsets])
        last = newest(keys, offsets)
        numbers = np.concatenate(self._numbers)[last]
        self._keys, self._offsets, self._numbers = [], [], []
        self._write(numbers[numbers >= 0])
        found = {"lists": [], "rows": 0, **self.inner.finish()}
        head = self.inner.finish_keys(keys.take(pa.array(last)))
        if not head:
            return {}
        return {**found, **head, "keys": [{**one, "lists": len(found["lists"])} for one in head["keys"]]}

    def discard(self) -> None:
        """Close open files."""
        self._spool.close()
        self.inner.discard()

    def _write(self, numbers: np.ndarray[Any, Any]) -> None:
        valid = np.zeros(self._rows, bool)
        valid[numbers] = True
        first = 0
        for rows in self._spool:
            some = rows.filter(pa.array(valid[first : first + len(rows)]))
            first += len(rows)
            if len(some):
                self.inner.add(self.inner.fit(some))
        self._spool.close()

    def _columns(self) -> tuple[str, ...]:
        existing = self.inner.existing()
        columns, own = (None, ()) if existing is None else existing
        return key_columns_of(self.name, self.key, columns, own)

    def _typed(self, keys: pa.Table) -> pa.Table:
        """Return keys in the types of the table's columns, once there is a table."""
        existing = self.inner.existing()
        if existing is None:
            return keys
        schema = pa.schema([pa.field(name, existing[0].field(name).type) for name in self._columns()])
        return fitted(keys, schema, Evolution(False, self.key.ignores_case))


def _required(rows: pa.Table, columns: Sequence[str], ignores_case: bool) -> pa.Table:
    """Return rows whose key columns are not nullable: the table's then need not become optional."""
    wanted = {name.lower() if ignores_case else name for name in columns}
    schema = [
        part.with_nullable((part.name.lower() if ignores_case else part.name) not in wanted) for part in rows.schema
    ]
    return pa.Table.from_arrays(rows.columns, schema=pa.schema(schema))
