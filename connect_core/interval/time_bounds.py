"""Intervals that end by a time: where in each partition that is, and by which times their records are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.interval.effect import Effect

__all__ = ["FutureRecord", "LoadTimeBefore", "ReadTimeBounds", "RecordFuture", "RecordTimes", "TimeBound", "millis_of"]


def millis_of(moment: datetime) -> int:
    """Return the first whole millisecond since 1970 that is not earlier."""
    return math.ceil(round(moment.timestamp() * 1_000_000) / 1000)


@dataclass(frozen=True, slots=True)
class FutureRecord:
    """A record later than now and the skew that is let pass; ``time`` in milliseconds since 1970."""

    offset: int
    time: int


@dataclass(frozen=True, slots=True)
class TimeBound:
    """Where a partition's range ends by a time; ``is_cut``: there is more before that time.

    ``future``: the first record that the range would end at for no other reason than that it lies in the future. Where
    such are passed over ``end`` lies behind them, else at it.
    """

    end: int
    future: FutureRecord | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RecordTimes:
    """The times by which a sink's records are counted, in milliseconds since 1970; ``None``: they are not.

    Those before ``late`` come after the interval of their time; those from ``bound`` on were passed over as future.
    """

    late: int | None = None
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class ReadTimeBounds(Effect[Mapping[TopicPartition, TimeBound]]):
    """Read where ranges end by a time → ``Mapping[TopicPartition, TimeBound]``.

    The first offset from a range's start on whose record is of ``before`` or later; the range's end, if there is none.
    ``passes_future``: a range that begins at a record later than now and ``skew_ms`` goes on behind it and its like.
    """

    ranges: tuple[PartitionRange, ...]
    before: datetime
    skew_ms: int
    passes_future: bool


@dataclass(frozen=True, slots=True)
class LoadTimeBefore(Effect[datetime | None]):
    """Read the latest earlier time by which an interval of this life was committed → ``datetime | None``."""

    connector: str
    incarnation: int
    before: datetime


@dataclass(frozen=True, slots=True)
class RecordFuture(Effect[None]):
    """Keep for good which future records are passed over, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    connector: str
    epoch: int
    found: Mapping[TopicPartition, FutureRecord]
