"""Ends of topics, cached for seconds: lists of connectors must not wait for Kafka."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError
from connect_core.interval.values import PartitionEnds

__all__ = ["Ends", "EndsReader", "TopicEnds"]

_LOG = logging.getLogger(__name__)
_FRESH_SECONDS = 5.0
_PATIENCE_SECONDS = 1.0
_KEPT_SECONDS = 60.0
"""How long a topic is read after it was last asked for: lists and pages of single connectors share what is known."""

Ends = Mapping[TopicPartition, PartitionEnds]


class EndsReader(Protocol):
    """Reads the first and last offsets of topic partitions. Implemented by ``KafkaAdmin``."""

    def partition_ends(self, topics: Collection[str], regex: str | None = None) -> Ends:
        """Return the ends of all partitions of topics, and of topics that match ``regex``. Raise ConnectError."""

    def first_offsets(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        """Return the first offset of each partition with a record of this time or later, -1 if it has none.

        ``millis``: milliseconds since 1970. Raise ConnectError.
        """


@dataclass(slots=True)
class TopicEnds:
    """The ends of topics as of a few seconds ago, for lists that must not wait for Kafka.

    One object serves all requests of a process.
    """

    reader: EndsReader
    _known: Ends = field(default_factory=dict)
    _read: frozenset[str] = frozenset()
    _asked: dict[str, float] = field(default_factory=dict)
    _read_at: float = 0.0
    _reading: threading.Thread | None = None
    _error: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self, topics: Collection[str]) -> Ends:
        """Return the known ends; old ones are refreshed in the background, new ones waited for up to a second."""
        wanted, until = frozenset(topics), time.monotonic() + _PATIENCE_SECONDS
        while (reading := self._reading_for(wanted)) is not None and time.monotonic() < until:
            reading.join(max(0.0, until - time.monotonic()))
        return self._known

    @property
    def answer(self) -> str | None:
        """The outcome of the last read: ``""`` if Kafka answered, else the error; ``None`` before the first read."""
        return self._error

    def _reading_for(self, wanted: frozenset[str]) -> threading.Thread | None:
        """Begin to read if necessary → the thread to wait for; ``None`` if all these topics were read before."""
        with self._lock:
            now = time.monotonic()
            self._asked.update(dict.fromkeys(wanted, now))
            is_new = not wanted <= self._read
            if wanted and (is_new or now - self._read_at > _FRESH_SECONDS) and self._reading is None:
                self._asked = {topic: at for topic, at in self._asked.items() if now - at < _KEPT_SECONDS}
                given = (frozenset(self._asked),)
                self._reading = threading.Thread(target=self._ask, args=given, name="connect-lag", daemon=True)
                self._reading.start()
            return self._reading if is_new else None

    def _ask(self, topics: frozenset[str]) -> None:
        try:
            self._known = self.reader.partition_ends(topics)
            self._error = ""
        except ConnectError as error:
            _LOG.warning("Lag is not known: %s", error)
            self._known, self._error = {}, str(error)
        finally:
            with self._lock:
                self._read, self._read_at, self._reading = topics, time.monotonic(), None
