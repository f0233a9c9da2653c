"""Sets of keys: the newest change of each, and which rows of a file have one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Bounds", "KeySet", "is_key_type", "newest"]

Bounds = Mapping[str, tuple[Any, Any]]
"""By column: the least and the greatest value, as Arrow scalars of the column's type, or values it can be made of."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """Distinct keys without nulls; a column of ``rows`` for each of the key's columns."""

    rows: pa.Table

    def __len__(self) -> int:
        return len(self.rows)

    def may_be_in(self, bounds: Bounds) -> bool:
        """Return whether rows within these bounds can have one of the keys; a column without bounds may have any."""
        inside: Any = None
        for name, (least, greatest) in bounds.items():
            column = self.rows.column(name)
            low, high = (pa.scalar(value, column.type) for value in (least, greatest))
            within = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
            inside = within if inside is None else pc.and_(inside, within)
        return bool(len(self.rows)) and (inside is None or bool(pc.any(inside).as_py()))

    def found_in(self, rows: pa.Table) -> np.ndarray[Any, Any]:
        """Return for each row (booleans) whether its key is one of the set; types are those of the set's columns."""
        names = self.rows.column_names
        found = np.zeros(len(rows), bool)
        numbered = _numbered(rows.select(names).cast(self.rows.schema))
        keys = _numbered(self.rows).drop_columns(["at"])
        joined = numbered.join(keys, [str(number) for number in range(len(names))], join_type="left semi")
        found[joined.column("at").to_numpy()] = True
        return found

    def common(self, others: Sequence[KeySet]) -> KeySet:
        """Return the keys that some of the others have as well."""
        hit = np.zeros(len(self.rows), bool)
        for other in others:
            hit |= other.found_in(self.rows)
        return KeySet(self.rows.filter(pa.array(hit)))


def newest(keys: pa.Table, offsets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the position of the last change of each key, by offset and then by position, in ascending order."""
    order = np.argsort(offsets, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    numbered = _numbered(keys).set_column(keys.num_columns, "at", pa.array(rank))
    names = numbered.column_names[:-1]
    last = numbered.group_by(names).aggregate([("at", "max")]).column("at_max").to_numpy()
    return np.sort(order[last])


def is_key_type(kind: pa.DataType) -> bool:
    """Return whether Arrow finds equal values of a type without doubt: not of nested, floating-point and other ones."""
    is_other = pa.types.is_null(kind) or isinstance(kind, pa.BaseExtensionType)
    return not (pa.types.is_floating(kind) or pa.types.is_nested(kind) or is_other)


def _numbered(rows: pa.Table) -> pa.Table:
    """Return the columns under names that cannot collide, and each row's position."""
    names = [str(number) for number in range(rows.num_columns)]
    return rows.rename_columns(names).append_column("at", pa.array(np.arange(len(rows)), pa.int64()))
