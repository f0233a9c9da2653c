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
    _asked: frozenset[str] = frozenset()
    _read_at: float = 0.0
    _reading: threading.Thread | None = None
    _error: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self, topics: Collection[str]) -> Ends:
        """Return the known ends; old ones are refreshed in the background, new ones waited for up to a second."""
        wanted = frozenset(topics)
        with self._lock:
            is_new = not wanted <= self._asked
            if wanted and (is_new or time.monotonic() - self._read_at > _FRESH_SECONDS) and self._reading is None:
                self._reading = threading.Thread(target=self._read, args=(wanted,), name="connect-lag", daemon=True)
                self._reading.start()
            reading = self._reading
        if reading is not None and is_new:
            reading.join(_PATIENCE_SECONDS)
        return self._known

    @property
    def answer(self) -> str | None:
        """The outcome of the last read: ``""`` if Kafka answered, else the error; ``None`` before the first read."""
        return self._error

    def _read(self, topics: frozenset[str]) -> None:
        try:
            self._known = self.reader.partition_ends(topics)
            self._error = ""
        except ConnectError as error:
            _LOG.warning("Lag is not known: %s", error)
            self._known, self._error = {}, str(error)
        finally:
            with self._lock:
                self._asked, self._read_at, self._reading = topics, time.monotonic(), None
