"""A broker in memory: transactions, fencing, last stable offset, compaction; driven by the production writer."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from connect_core.errors import RetriableError
from connect_core.kafka.marker_records import EpochRecord, Marker, decode
from connect_core.kafka.markers import MarkerView, OffsetsTopic

OFFSETS = "connect-offsets"
DATA = "data"
PARTITIONS = 2

_ids = count()


@dataclass(slots=True)
class Entry:
    """One record of the offsets topic; control records have no key, compacted ones are gone."""

    key: bytes | None
    record: Marker | EpochRecord | None
    state: str
    time: int
    topic: str = ""


@dataclass(slots=True)
class Transaction:
    """What a producer has open."""

    entries: list[Entry] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    places: set[tuple[str, int]] = field(default_factory=set)


@dataclass(slots=True)
class Log:
    """An offsets topic; one that is created again is another, by its id."""

    identity: int = field(default_factory=lambda: next(_ids))
    partitions: list[list[Entry]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])

    def stable(self, place: int) -> int:
        """Return the last stable offset of a partition."""
        entries = self.partitions[place]
        return next((at for at, entry in enumerate(entries) if entry.state == "open"), len(entries))


@dataclass(slots=True)
class Broker:
    """One cluster: transactional ids, the offsets topics, and who is told when data becomes visible."""

    deliver: Callable[[bytes], None]
    epochs: dict[str, int] = field(default_factory=dict)
    open: dict[str, Transaction] = field(default_factory=dict)
    logs: defaultdict[str, Log] = field(default_factory=lambda: defaultdict(Log))
    """Name → offsets topic, created where it is first asked for."""
    late: list[tuple[str, int]] = field(default_factory=list)
    """EndTxn requests still on their way: transactional id and producer epoch."""
    fault: str | None = None
    """What happens to the next EndTxn."""
    on_marker: Callable[[Marker | EpochRecord, str], None] = lambda record, topic: None

    @property
    def bootstrap_servers(self) -> str:
        return "simulated"

    def producer(self, settings: Mapping[str, Any]) -> Producer:
        return Producer(self, settings["transactional.id"])

    def init(self, identity: str) -> int:
        self.abort(identity)
        self.epochs[identity] = self.epochs.get(identity, 0) + 1
        return self.epochs[identity]

    def check(self, identity: str, epoch: int) -> None:
        if self.epochs.get(identity) != epoch:
            raise KafkaException(KafkaError(KafkaError._FENCED))

    def append(self, identity: str, epoch: int, row: tuple[Any, ...]) -> None:
        self.check(identity, epoch)
        topic, value, key, headers = row[0], row[1], row[2], row[7]
        transaction = self.open.setdefault(identity, Transaction())
        if topic == DATA:
            transaction.data.append(value)
            return
        place = zlib.crc32(key) % PARTITIONS
        entry = Entry(key, decode(key, value, headers or []), "open", self._time(), topic)
        self.logs[topic].partitions[place].append(entry)
        transaction.entries.append(entry)
        transaction.places.add((topic, place))

    def end(self, identity: str, epoch: int) -> None:
        """Commit what the producer has open, whichever transaction that is by now."""
        self.check(identity, epoch)
        done = self.open.pop(identity, None)
        if done is None:
            return
        self._close(done, "committed")
        for value in done.data:
            self.deliver(value)
        for entry in done.entries:
            if entry.record is not None:
                self.on_marker(entry.record, entry.topic)

    def abort(self, identity: str) -> None:
        done = self.open.pop(identity, None)
        if done is not None:
            self._close(done, "aborted")

    def expire(self) -> None:
        """Let ``transaction.timeout.ms`` pass for everything that is open."""
        for identity in list(self.open):
            self.abort(identity)
            self.epochs[identity] += 1

    def arrive(self) -> None:
        """Let the oldest EndTxn that is on its way arrive."""
        identity, epoch = self.late.pop(0)
        if self.epochs.get(identity) == epoch:
            self.end(identity, epoch)

    def compact(self) -> None:
        """Drop what a later committed record of the same key replaces."""
        for entry in self._replaced():
            entry.key, entry.record = None, None

    @property
    def is_loose(self) -> bool:
        """Whether compaction would drop anything."""
        return next(self._replaced(), None) is not None

    def _replaced(self) -> Iterator[Entry]:
        for entries in self._partitions():
            seen: set[bytes] = set()
            for entry in reversed(entries):
                if entry.key is None or entry.state == "open":
                    continue
                if entry.state == "aborted" or entry.key in seen:
                    yield entry
                else:
                    seen.add(entry.key)

    @property
    def is_used(self) -> bool:
        """Whether anything stands in an offsets topic."""
        return any(self._partitions())

    def _partitions(self) -> Iterator[list[Entry]]:
        return chain.from_iterable(log.partitions for log in self.logs.values())

    def recreate(self) -> None:
        """Lose the offsets topics and make them again: what was written is gone from open transactions, too."""
        self.logs.clear()
        for transaction in self.open.values():
            transaction.entries.clear()
            transaction.places.clear()

    def _close(self, done: Transaction, state: str) -> None:
        for entry in done.entries:
            entry.state = state
        for topic, place in done.places:
            self.logs[topic].partitions[place].append(Entry(None, None, "control", self._time()))

    def _time(self) -> int:
        return sum(map(len, self._partitions()))


class Producer:
    """The part of confluent-kafka's producer that the production writer uses."""

    __slots__ = ("_broker", "_epoch", "_identity")

    def __init__(self, broker: Broker, identity: str) -> None:
        self._broker, self._identity, self._epoch = broker, identity, 0

    def list_topics(self, topic: str, seconds: float) -> None:
        """Do nothing: a connection is always there."""

    def init_transactions(self, seconds: float) -> None:
        self._epoch = self._broker.init(self._identity)

    def begin_transaction(self) -> None:
        self._broker.check(self._identity, self._epoch)

    def produce(self, *row: Any) -> None:
        self._broker.append(self._identity, self._epoch, row)

    def poll(self, seconds: float) -> int:
        return 0

    def flush(self, seconds: float) -> int:
        return 0

    def purge(self) -> None:
        return None

    def close(self) -> None:
        return None

    def abort_transaction(self, seconds: float) -> None:
        self._broker.check(self._identity, self._epoch)
        self._broker.abort(self._identity)

    def commit_transaction(self, seconds: float) -> None:
        broker, fault = self._broker, self._broker.fault
        broker.fault = None
        if fault == "delay":
            broker.check(self._identity, self._epoch)
            broker.late.append((self._identity, self._epoch))
        elif fault != "lost request":
            broker.end(self._identity, self._epoch)
        if fault is not None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


class Topic(OffsetsTopic):
    """The production reader of the offsets topic over the simulated log."""

    __slots__ = ()

    def _high_watermarks(self) -> tuple[str, dict[int, int]]:
        log = self.log
        return str(log.identity), {place: len(entries) for place, entries in enumerate(log.partitions)}

    def _ids(self) -> dict[str, str]:
        return {self.name: str(self.log.identity)}

    def _messages(self, starts: Mapping[int, int], ends: Mapping[int, int]) -> Iterator[Any]:
        log = self.log
        for place, entries in enumerate(log.partitions):
            if log.stable(place) < ends[place]:
                raise RetriableError(f"{self.name}-{place} is held back by an open transaction")
            for entry in entries[starts[place] : ends[place]]:
                if entry.key is not None and entry.state == "committed":
                    yield Message(place, entry)

    def _take(self, view: MarkerView, message: Any, key: bytes) -> None:
        record = message.entry.record
        if record is not None and record.connector == view.connector:
            view.add(record, message.place, message.entry.time)
            if isinstance(record, Marker):
                view.spellings.setdefault(record.canonical_partition, set()).add(key)

    @property
    def log(self) -> Log:
        broker: Any = self.clients
        return broker.logs[self.name]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Message:
    """What the reader asks of a message."""

    place: int
    entry: Entry

    def key(self) -> bytes | None:
        return self.entry.key
