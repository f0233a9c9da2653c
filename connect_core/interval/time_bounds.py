"""Intervals that end at a time: that time's offset in each partition, and the times by which records are counted."""

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
    """Return the moment in milliseconds since 1970, rounded up."""
    return math.ceil(round(moment.timestamp() * 1_000_000) / 1000)


@dataclass(frozen=True, slots=True)
class FutureRecord:
    """A record later than now plus the allowed skew; ``time`` in milliseconds since 1970."""

    offset: int
    time: int


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The end of a partition's range by time; ``is_cut``: there are further records before that time.

    ``future``: the first record at which the range would end only because it lies in the future. If such records are
    passed over, ``end`` lies after them, otherwise at it.
    """

    end: int
    future: FutureRecord | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RecordTimes:
    """The times by which a sink's records are counted, in milliseconds since 1970; ``None``: they are not counted.

    Records before ``late`` came after the interval of their time; those from ``bound`` on were passed over as future.
    """

    late: int | None = None
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class ReadTimeBounds(Effect[Mapping[TopicPartition, TimeBound]]):
    """Read where ranges end by a time → ``Mapping[TopicPartition, TimeBound]``.

    A range ends at its first offset whose record has the time ``before`` or later; without one, at its own end.
    ``passes_future``: a range that begins with records later than now plus ``skew_ms`` continues after them.
    Raise RetriableError if a topic has another id than its range: it was recreated.
    """

    ranges: tuple[PartitionRange, ...]
    before: datetime
    skew_ms: int
    passes_future: bool


@dataclass(frozen=True, slots=True)
class LoadTimeBefore(Effect[datetime | None]):
    """Read the latest end time, before ``before``, of the incarnation's committed intervals → ``datetime | None``."""

    connector: str
    incarnation: int
    before: datetime


@dataclass(frozen=True, slots=True)
class RecordFuture(Effect[None]):
    """Record which future records are passed over, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    connector: str
    epoch: int
    found: Mapping[TopicPartition, FutureRecord]
