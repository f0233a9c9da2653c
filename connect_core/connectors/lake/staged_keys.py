"""Keys that tasks have staged, as the driver needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.keys import KeySet
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import ConnectError

__all__ = ["StagedKeys", "staged_keys"]


@dataclass(frozen=True, slots=True)
class StagedKeys:
    """The keys of an interval in one table."""

    all: KeySet
    lists: tuple[tuple[Sequence[Mapping[str, Any]], KeySet], ...]
    """What each task has staged, with those of its keys that a later task has changed as well."""


def staged_keys(
    table: str, columns: pa.Schema, content: Mapping[str, Any], load: Callable[[str], pa.Table]
) -> StagedKeys:
    """Return the keys of a decision in the types of the table's columns; ``load`` reads a file of them.

    Records of one key belong in one partition, and so to one task. Where they are in several, the last task's are
    valid: never do two rows of a key remain. Raises ConnectError if the table no longer has the columns.
    """
    sets = [_typed(table, load(one["file"]), columns) for one in content["keys"]]
    joined = pa.concat_tables([one.rows for one in sets])
    every = KeySet(joined.group_by(joined.column_names).aggregate([]).select(joined.column_names))
    is_shared = len(every) < len(joined)
    lists, first = [], 0
    for number, (one, keys) in enumerate(zip(content["keys"], sets, strict=True)):
        some = content["lists"][first : first + one["lists"]]
        first += one["lists"]
        lists.append((some, keys.common(sets[number + 1 :]) if is_shared else KeySet(keys.rows.slice(0, 0))))
    return StagedKeys(every, tuple(lists))


def _typed(table: str, keys: pa.Table, columns: pa.Schema) -> KeySet:
    missing = [name for name in keys.column_names if name not in columns.names]
    if missing:
        raise ConnectError(
            f"table {table} has lost the column {missing[0]} of its key, and rows of a committed interval are to be "
            "found by it; add it again"
        )
    schema = pa.schema([pa.field(name, columns.field(name).type) for name in keys.column_names])
    return KeySet(fitted(keys, schema, Evolution(False)))
