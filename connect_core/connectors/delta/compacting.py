"""Which tables delta-rs cannot merge the small files of without changing values."""

from __future__ import annotations

import pyarrow as pa
from deltalake import DeltaTable

from connect_core.connectors.delta.tables import columns_of

__all__ = ["obstacle"]

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
"""A text that delta-rs takes for null where it writes partitions."""


def obstacle(table: DeltaTable) -> str | None:
    """Return why delta-rs would give merged files other partition values than their rows have; ``None`` if not."""
    columns, names = columns_of(table), table.metadata().partition_columns
    for name in names:
        if pa.types.is_decimal(columns.field(name).type):
            return f"its partition column {name} is a decimal, and delta-rs writes -1.05 as -1.-5"
    for action in pa.table(table.get_add_actions(flatten=False)).to_pylist() if names else ():
        for name, value in (action.get("partition") or action.get("partition_values") or {}).items():
            if value == _HIVE_NULL:
                return f"its partition column {name} holds the text {value}, which delta-rs takes for null"
    return None
