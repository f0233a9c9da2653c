"""Schemaless values other than maps as one Arrow column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.arrays import to_arrow_array
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["scalar_column"]

_KINDS = frozenset((str, bool, bytes, Int8, Int16, Int32, Int64, int, Float32, Float64, float, Instant))


def scalar_column(values: Sequence[Any]) -> pa.Array | None:
    """Return scalars of one type, and nulls, as a column; ``None`` for anything else."""
    kinds = frozenset(map(type, values)) - {type(None)}
    if not kinds or not kinds <= _KINDS:
        return None
    column = to_arrow_array(None, [{"": value} for value in values])
    return None if column is None else column.field(0)
