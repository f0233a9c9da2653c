"""Times of records as Kafka and librdkafka represent them: a missing one is a number there, and 0 is not a time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["read_times", "sent_time", "sent_times"]

_NONE = -1
"""Kafka: ``RecordBatch.NO_TIMESTAMP``."""
_NOW = 0
"""librdkafka: the time at which the record is put into the producer's queue."""
_FIRST = 1
"""The earliest time that librdkafka sends as it is."""


def read_times(millis: npt.NDArray[np.int64]) -> pa.Array:
    """Return the times of records that were read; null where a record has none, as in Connect."""
    missing = millis == _NONE
    # Without a mask nothing is copied, and hardly a topic needs one.
    return pa.array(millis, mask=missing) if missing.any() else pa.array(millis)


def sent_time(millis: int | None) -> int:
    """Return a record's time as the producer takes it; a missing one is the current time."""
    if millis is None or millis == _NONE:
        return _NOW
    return millis or _FIRST


def sent_times(column: pa.Array) -> Iterable[int]:
    """Return the times of records as the producer takes them, for ever if none has one."""
    if column.null_count == len(column):
        return repeat(_NOW)
    millis = column.fill_null(_NONE).to_numpy()
    numbers: list[int] = np.where(millis == _NONE, _NOW, np.where(millis == 0, _FIRST, millis)).tolist()
    return numbers
