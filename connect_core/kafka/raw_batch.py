"""Records as bytes, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.records import TimestampType

__all__ = ["RawBatch", "RawHeaders"]

RawHeaders = Sequence[tuple[str, bytes | None]]
"""A record's headers in order; a name may occur several times."""


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Records of one topic, unparsed, as columns of equal length.

    partition: int32; offset: int64; timestamp: int64 milliseconds, null = none; key, value: binary, null = Kafka null;
    headers: one list per record or ``None``, and ``None`` as a whole if no record has any. Records of one partition are
    in offset order.
    """

    topic: str
    partition: pa.Array
    offset: pa.Array
    timestamp: pa.Array
    timestamp_type: TimestampType
    key: pa.BinaryArray
    value: pa.BinaryArray
    headers: Sequence[RawHeaders | None] | None = None

    def __len__(self) -> int:
        return len(self.value)

    @property
    def value_bytes(self) -> int:
        """The total size of the values."""
        return pc.sum(pc.binary_length(self.value)).as_py() or 0
