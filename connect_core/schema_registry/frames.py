"""Batches of messages, and their parts, as positions in Arrow's buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.errors import DataError

__all__ = ["FIRST_GUID", "Frames", "Messages", "messages_of", "refuse"]

FIRST_GUID = 1 << 62
"""Ids from here on represent GUIDs: no registry's ids are this large."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Frames:
    """Messages without their schema names: ``data[starts[row]:ends[row]]`` is the body of a row.

    ids: int64, -1 = Kafka null; data: uint8.
    """

    ids: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Messages:
    """The non-null rows of a binary column: ``rows`` their numbers, ``starts`` and ``ends`` positions in ``data``.

    count: the number of all rows, including nulls.
    """

    count: int
    rows: Numbers
    starts: Numbers
    ends: Numbers
    data: npt.NDArray[np.uint8]

    def frames(self, ids: Numbers, size: int) -> Frames:
        """Return the bodies, given the id of each message and the size of a schema name."""
        if len(self.rows) == self.count:
            return Frames(ids, self.starts + size, self.ends, self.data)
        found, starts, ends = (np.zeros(self.count, np.int64) for _ in range(3))
        found[:] = -1
        found[self.rows], starts[self.rows], ends[self.rows] = ids, self.starts + size, self.ends
        return Frames(found, starts, ends, self.data)


def messages_of(column: pa.Array) -> Messages:
    """Return the messages of a binary or large_binary array, without copying them."""
    count = len(column)
    _, offsets, data = column.buffers()
    width = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    bounds = np.zeros(1, np.int64)
    if count:
        bounds = np.frombuffer(offsets, width)[column.offset : column.offset + count + 1].astype(np.int64)
    content = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    rows = np.arange(count, dtype=np.int64)
    if column.null_count:
        rows = rows[column.is_valid().to_numpy(zero_copy_only=False)]
        return Messages(count, rows, bounds[rows], bounds[rows + 1], content)
    return Messages(count, rows, bounds[:-1], bounds[1:], content)


def refuse(messages: Messages, bad: npt.NDArray[Any], why: str) -> None:
    """Raise DataError naming the first row of the batch for which ``bad`` is true."""
    if bad.any():
        raise DataError(f"{why} (row {messages.rows[int(bad.argmax())]} of the batch)")
