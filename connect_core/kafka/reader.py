"""Reads fixed ranges of topic partitions, and nothing beyond them."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import numpy.typing as npt
from confluent_kafka import KafkaError
from confluent_kafka import TopicPartition as KafkaPartition

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import ConnectError, DataLossError, IllegalStateError, RetriableError
from connect_core.kafka.clients import CLIENT_LOG, ClientErrors, KafkaClients
from connect_core.kafka.failures import to_connect_error
from connect_core.kafka.fetch_queue import FetchError, open_queue
from connect_core.kafka.fetched import Fetched
from connect_core.kafka.properties import ClientKind
from connect_core.kafka.raw_batch import RawBatch
from connect_core.kafka.topics import topic_ids

__all__ = ["BoundedReader", "ReaderLimits"]

_SLICE = 0.01
_FIRST_GUESS = 4096
"""The assumed size of a record, in bytes, before one has been read."""
_CHECK_SECONDS = 10.0
_OUT_OF_RANGE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})
_TOPIC_GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """The size of a batch, and the time without progress.

    ``batch_records``, ``batch_bytes``: the most that one ``poll`` returns; the last fetch may exceed the bytes.
    ``stall_seconds``: time of polling without progress after which the brokers count as unreachable.
    """

    batch_records: int = 20_000
    batch_bytes: int = 32 * 2**20
    stall_seconds: float = 60.0


class BoundedReader:
    """Reads [start, end) of some partitions; each range is done at *position ≥ end*.

    Records are not counted: control records, aborted transactions and compaction leave gaps. After the last read the
    topic ids are compared with the planned ones. Used by one thread; ``stop`` may be set from any other.
    """

    def __init__(
        self,
        clients: KafkaClients,
        ranges: Sequence[PartitionRange],
        limits: ReaderLimits = ReaderLimits(),
        stop: threading.Event | None = None,
    ) -> None:
        self._clients = clients
        self._ranges = {chosen.topic_partition: chosen for chosen in ranges}
        self._limits = limits
        self._stop = stop or threading.Event()
        self._positions = {chosen.topic_partition: chosen.start for chosen in ranges}
        self._open = {chosen.topic_partition for chosen in ranges if chosen.start < chosen.end}
        self._read = set(self._open)
        self._paused: set[TopicPartition] = set()
        self._verified = not self._open
        self._idle = 0.0
        self._errors = ClientErrors()
        self._consumer = clients.consumer({"error_cb": self._errors.note, **_prefetch(clients, ranges)})
        self._queue = open_queue(self._consumer, self._errors.note, CLIENT_LOG)
        self._record_bytes = _FIRST_GUESS
        self._assign(self._open)

    @property
    def is_finished(self) -> bool:
        """Whether every range has been read to its end, from the planned topics."""
        return not self._open and self._verified

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The next offset of each partition, after all that ``poll`` has returned."""
        return dict(self._positions)

    def poll(self, timeout: float = 0.1) -> Sequence[RawBatch]:
        """Return the next records, or nothing if none came within ``timeout`` seconds.

        Returns early when stopped, finished, or a batch is full. Raise DataLossError if planned records no longer exist
        or a topic was recreated, RetriableError if the brokers do not respond, ConnectError if forbidden.
        """
        batches = [batch for fetched in self._collect(time.monotonic() + timeout) for batch in fetched.batches()]
        if not self._open and not self._verified:
            self.verify_topics()
        return batches

    def batches(self) -> Iterator[RawBatch]:
        """Iterate over the records until the end of all ranges, or the stop flag."""
        while not self.is_finished and not self._stop.is_set():
            yield from self.poll()

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Stop reading these partitions until resumed."""
        self._unassign(self._open & set(partitions) - self._paused)
        self._paused |= set(partitions)

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        """Read these partitions again, from their last positions."""
        wanted = self._paused & set(partitions)
        self._paused -= wanted
        self._assign(self._open & wanted)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Continue from ``offset``, which may be before or after the range.

        For sinks that store offsets themselves. Raise IllegalStateError for a partition that is not read here.
        """
        if partition not in self._ranges:
            raise IllegalStateError(f"{partition} is not among the partitions of this task: {sorted(self._ranges)}")
        self._unassign({partition} & self._open - self._paused)
        self._open.discard(partition)
        self._positions[partition] = offset
        if offset < self._ranges[partition].end:
            self._open.add(partition)
            self._read.add(partition)
            self._verified = False
            self._assign({partition} - self._paused)

    def verify_topics(self) -> None:
        """Compare the ids of the topics that are read with the planned ones. Raise DataLossError if one differs."""
        # A topic without records to read may be gone: a plan skips what was lost with it by leaving an empty range.
        ranges = (chosen for place, chosen in self._ranges.items() if place in self._read)
        planned = {chosen.topic: chosen.topic_id for chosen in ranges if chosen.topic_id}
        if planned:
            found = topic_ids(self._clients.admin(), planned, self._clients.bootstrap_servers, _CHECK_SECONDS)
            for topic, topic_id in planned.items():
                if found.get(topic) != topic_id:
                    raise DataLossError(
                        f"Topic {topic} was {'recreated' if topic in found else 'deleted'} while it was read:"
                        f" planned id {topic_id}, found {found.get(topic, 'none')}."
                        " Reset the connector's offsets to read the new topic"
                    )
        self._verified = not self._open

    def close(self) -> None:
        """Close the consumer; what was prefetched is dropped."""
        self._queue.close()
        self._consumer.close()

    def __enter__(self) -> BoundedReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _assign(self, partitions: Collection[TopicPartition]) -> None:
        if partitions:
            self._consumer.incremental_assign([KafkaPartition(*key, self._positions[key]) for key in partitions])

    def _unassign(self, partitions: Collection[TopicPartition]) -> None:
        if partitions:
            self._consumer.incremental_unassign([KafkaPartition(*key) for key in partitions])

    def _collect(self, deadline: float) -> list[Fetched]:
        collected: list[Fetched] = []
        records, size = self._limits.batch_records, self._limits.batch_bytes
        while self._open and not self._stop.is_set() and records > 0 and size > 0:
            fetched = self._fetch(max(1, min(records, size // self._record_bytes)))
            if len(fetched):
                collected.append(fetched)
                records, size = records - len(fetched), size - fetched.size
            if time.monotonic() >= deadline:
                break
        return collected

    def _fetch(self, count: int) -> Fetched:
        """Return the messages of one short wait that are in their ranges, and advance the positions."""
        begun = time.monotonic()
        try:
            fetched = self._queue.fetch(count, _SLICE)
        except FetchError as failure:
            raise self._failure(failure) from failure
        if len(fetched):
            self._record_bytes = max(1, fetched.size // len(fetched))
        moved, beyond = self._advance()
        if beyond:
            fetched = fetched.before(self._ends(fetched))
        self._note_progress(moved, time.monotonic() - begun)
        return fetched

    def _advance(self) -> tuple[bool, bool]:
        """Update the positions from the consumer; return whether one moved and whether one went beyond its end."""
        finished: list[TopicPartition] = []
        moved = beyond = False
        reading = self._open - self._paused
        for found in self._consumer.position([KafkaPartition(*key) for key in reading]):
            key = TopicPartition(found.topic, found.partition)
            end = self._ranges[key].end
            moved |= found.offset > self._positions[key]
            beyond |= found.offset > end
            self._positions[key] = min(max(found.offset, self._positions[key]), end)
            if self._positions[key] == end:
                finished.append(key)
        self._unassign(finished)
        self._open.difference_update(finished)
        return moved, beyond

    def _ends(self, fetched: Fetched) -> npt.NDArray[np.int64]:
        """Return the end of each message's range."""
        ends = np.zeros(len(fetched), np.int64)
        for key, chosen in self._ranges.items():
            if key.topic in fetched.topics:
                is_of_topic = fetched.topic == fetched.topics.index(key.topic)
                ends[is_of_topic & (fetched.partition == key.partition)] = chosen.end
        return ends

    def _note_progress(self, moved: bool, seconds: float) -> None:
        self._idle = 0.0 if moved or not self._open - self._paused else self._idle + seconds
        if self._idle > self._limits.stall_seconds:
            with suppress(RetriableError):
                self.verify_topics()
            waiting = ", ".join(
                f"{key} at {self._positions[key]} of {self._ranges[key].end}" for key in sorted(self._open)[:5]
            )
            trouble = f"; last error: {self._errors.last}" if self._errors.last else ""
            raise RetriableError(
                f"No record came for {self._limits.stall_seconds:g} s ({waiting}{trouble})."
                f" Check that the brokers of bootstrap.servers={self._clients.bootstrap_servers} can be reached"
            )

    def _failure(self, failure: FetchError) -> ConnectError:
        error = failure.error
        key = TopicPartition(failure.topic, failure.partition)
        planned = self._ranges.get(key)
        at = f"{key} at offset {self._positions.get(key)}"
        if error.code() in _OUT_OF_RANGE:
            return DataLossError(
                f"Planned records of {at} no longer exist ({error.str()}); the interval reads"
                f" [{planned and planned.start}, {planned and planned.end}). They were removed by retention or "
                "manually: set interval.data.loss=skip to continue without them"
            )
        if error.code() in _TOPIC_GONE:
            return DataLossError(f"Topic {key.topic} was deleted while {at} was read: {error.str()}")
        return to_connect_error(error, f"Reading {at}", self._clients.bootstrap_servers, self._errors.last)


def _prefetch(clients: KafkaClients, ranges: Sequence[PartitionRange]) -> dict[str, int]:
    """Return how much to prefetch: as configured, but not far beyond the longest range."""
    longest = max((chosen.end - chosen.start for chosen in ranges), default=1)
    configured = int(clients.settings(ClientKind.CONSUMER)["queued.min.messages"])
    return {"queued.min.messages": max(1, min(configured, longest))}
