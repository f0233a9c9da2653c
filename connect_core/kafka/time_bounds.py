"""Finds where ranges of topic partitions end by a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka.admin import OffsetSpec

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import DataLossError, RetriableError
from connect_core.interval.time_bounds import FutureRecord, ReadTimeBounds, TimeBound, millis_of
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.partition_ends import OffsetPlace, list_places
from connect_core.kafka.raw_batch import RawBatch
from connect_core.kafka.reader import BoundedReader
from connect_core.kafka.topics import check_same, topic_ids

__all__ = ["TimedLog", "find_time_bounds", "time_bounds"]

_Numbers: TypeAlias = "npt.NDArray[np.int64]"
_MOST_RECORDS = 1_000_000
"""How many records are searched for one result; if they do not suffice, the ranges end there."""


class _Reader(Protocol):
    """Reads ranges: a ``BoundedReader``."""

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The next offset of each partition, after all that ``poll`` has returned."""

    def poll(self) -> Sequence[RawBatch]:
        """Return the next records."""

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Stop reading these partitions."""


@dataclass(frozen=True, slots=True)
class TimedLog:
    """The partitions' records: ``first`` finds the first one of a time or later, ``reader`` reads ranges.

    Both go by the topics' names; ``ids`` returns which topics these are now, without those that do not exist.
    """

    first: Callable[[Collection[TopicPartition], int], Mapping[TopicPartition, OffsetPlace]]
    reader: Callable[[Sequence[PartitionRange]], AbstractContextManager[_Reader]]
    ids: Callable[[Collection[str]], Mapping[str, str]]


def time_bounds(clients: KafkaClients, asked: ReadTimeBounds) -> dict[TopicPartition, TimeBound]:
    """Return where each range ends by the requested time.

    Raise RetriableError if the brokers do not respond or a topic is not the planned one any more, ConnectError if they
    forbid it.
    """
    servers = clients.bootstrap_servers

    def first(parts: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, OffsetPlace]:
        return list_places(clients.admin(), parts, OffsetSpec.for_timestamp(millis), servers)

    def ids(topics: Collection[str]) -> Mapping[str, str]:
        return topic_ids(clients.admin(), topics, servers)

    log = TimedLog(first, lambda ranges: BoundedReader(clients, ranges), ids)
    try:
        return find_time_bounds(log, asked, int(time.time() * 1000))
    except DataLossError as loss:
        # The next plan finds the same loss in the offsets, and treats it as the connector's configuration says.
        raise RetriableError(f"The times of records could not be read, the next plan decides: {loss}") from loss


def find_time_bounds(
    log: TimedLog, asked: ReadTimeBounds, now: int, most: int = _MOST_RECORDS
) -> dict[TopicPartition, TimeBound]:
    """Return where ranges end; ``now`` in milliseconds since 1970.

    Kafka finds the first record of a time in a partition as a whole. If that is before a range, or from the future, the
    range's own records are read and checked. Raise RetriableError if a topic was recreated since its range was fixed:
    the times of other records would end it.
    """
    ranges = [part for part in asked.ranges if part.start < part.end]
    bounds = {part.topic_partition: TimeBound(part.end) for part in asked.ranges}
    times = _Times(millis_of(asked.before), now + asked.skew_ms, asked.passes_future)
    places = log.first([part.topic_partition for part in ranges], times.first)
    unknown = []
    for part in ranges:
        place = places[part.topic_partition]
        is_future = place.time > times.latest
        if place.offset < 0 or place.offset >= part.end:
            continue
        if place.offset > part.start or (place.offset == part.start and not is_future):
            # The next plan of this run handles the records after one from the future.
            bounds[part.topic_partition] = TimeBound(place.offset, is_cut=is_future)
        else:
            unknown.append(part)
    bounds |= _looked_through(log, unknown, times, most)
    planned = {part.topic: part.topic_id for part in ranges if part.topic_id}
    check_same(planned, log.ids(planned) if planned else {}, "the times of its records were read")
    return bounds


@dataclass(frozen=True, slots=True)
class _Times:
    """``first``: when a range ends; ``latest``: the latest time that is not in the future; milliseconds since 1970."""

    first: int
    latest: int
    passes_future: bool


def _looked_through(
    log: TimedLog, ranges: Sequence[PartitionRange], times: _Times, most: int
) -> dict[TopicPartition, TimeBound]:
    searches = {part.topic_partition: _Search(part, times) for part in ranges}
    if not searches:
        return {}
    seen, waiting = 0, set(searches)
    with log.reader(ranges) as reader:
        while waiting and seen < most:
            for batch in reader.poll():
                seen += len(batch)
                _look(searches, batch)
            reader.pause({part for part in waiting if searches[part].end is not None})
            waiting = {part for part in waiting if searches[part].is_waiting(reader.positions[part])}
        return {part: search.bound(reader.positions[part]) for part, search in searches.items()}


def _look(searches: dict[TopicPartition, _Search], batch: RawBatch) -> None:
    numbers = batch.partition.to_numpy()
    for number in np.unique(numbers):
        chosen = pa.array(np.flatnonzero(numbers == number))
        search = searches[TopicPartition(batch.topic, int(number))]
        if search.end is None:
            search.look(batch.offset.take(chosen).to_numpy(), batch.timestamp.take(chosen).fill_null(-1).to_numpy())


@dataclass(slots=True)
class _Search:
    """The search through one range for its end."""

    part: PartitionRange
    times: _Times
    end: int | None = None
    future: FutureRecord | None = None
    is_begun: bool = False
    """Whether there are records before the range's end."""

    def is_waiting(self, position: int) -> bool:
        """Return whether the end may be among records not read yet."""
        return self.end is None and position < self.part.end

    def look(self, offsets: _Numbers, times: _Numbers) -> None:
        """Search records, in their order."""
        beyond = times >= self.times.first
        future = beyond & (times > self.times.latest)
        ends = np.flatnonzero(beyond & ~future if self.times.passes_future else beyond)
        count = int(ends[0]) if len(ends) else len(times)
        if len(ends):
            self.end = int(offsets[count])
        passed = np.flatnonzero(future[: count + 1])
        if len(passed) and self.future is None:
            self.future = FutureRecord(int(offsets[passed[0]]), int(times[passed[0]]))
        self.is_begun |= count > 0

    def bound(self, position: int) -> TimeBound:
        """Return where the range ends, if its records up to ``position`` were searched."""
        end = position if self.end is None else self.end
        if self.future is not None and self.is_begun and not self.times.passes_future:
            # The next plan begins at the future record.
            return TimeBound(end, is_cut=True)
        return TimeBound(end, self.future, self.is_waiting(position))
