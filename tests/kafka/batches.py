"""Batches and columns of bytes for producing."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connect_core.api.batch import Batch, Objects


def batch(
    topics: str | Sequence[str],
    rows: int,
    partitions: Sequence[int | None] | None = None,
    stamps: Sequence[int | None] | None = None,
) -> Batch:
    """Return a batch of ``rows`` empty records bound for these topics."""
    names = pa.array([topics] * rows if isinstance(topics, str) else topics, pa.string())
    nothing = Objects([None] * rows, [None] * rows)
    return Batch(
        topic=names.dictionary_encode(),
        partition=pa.array(partitions or [None] * rows, pa.int32()),
        offset=pa.nulls(rows, pa.int64()),
        timestamp=pa.array(stamps or [None] * rows, pa.int64()),
        origin=pa.array(range(rows), pa.int64()),
        key=nothing,
        value=nothing,
    )


def column(*values: bytes | None) -> pa.Array:
    """Return keys or values as a column."""
    return pa.array(values, pa.binary())
