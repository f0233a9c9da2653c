"""Writes records at least once, outside any transaction: dead letters, heartbeats."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaException

from connect_core.errors import ConnectError, RetriableError
from connect_core.kafka.clients import ClientErrors, KafkaClients, destroy
from connect_core.kafka.delivery import DeliveryReports
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.properties import ClientKind
from connect_core.kafka.raw_batch import RawHeaders
from connect_core.kafka.timestamps import sent_time

__all__ = ["PlainWriter"]

_IN_ORDER: Mapping[str, object] = {"enable.idempotence": False, "max.in.flight.requests.per.connection": 1}


class PlainWriter:
    """A producer without transactions; after ``flush``, all records are in Kafka, in the order they were given.

    ``batch_bytes``: the most in one batch, if that is less than ``batch.size``. ``is_idempotent``: whether a retry
    writes nothing twice. It costs the first record half a second, after which librdkafka asks again for a producer id.
    """

    def __init__(
        self,
        clients: KafkaClients,
        topic: str,
        timeout_seconds: float = 60.0,
        *,
        is_idempotent: bool = True,
        batch_bytes: int | None = None,
    ) -> None:
        self._topic = topic
        self._timeout_seconds = timeout_seconds
        self._servers = clients.bootstrap_servers
        self._errors = ClientErrors()
        self._reports = DeliveryReports()
        settings = dict({} if is_idempotent else _IN_ORDER)
        if batch_bytes is not None:
            settings["batch.size"] = min(batch_bytes, int(clients.settings(ClientKind.PRODUCER)["batch.size"]))
        self._producer: Any = clients.producer(
            {"delivery.report.only.error": True, "error_cb": self._errors.note, **settings}
        )

    def produce(
        self, key: bytes | None, value: bytes | None, headers: RawHeaders | None = None, timestamp: int | None = None
    ) -> None:
        """Queue a record; ``timestamp`` in milliseconds, the current time by default.

        Raise DataError for a record that the client refuses, RetriableError when the brokers accept nothing for long,
        or an earlier record's error.
        """
        deadline = time.monotonic() + self._timeout_seconds
        row = (self._topic, value, key, -1, self._reports.note, None, sent_time(timestamp), headers)
        while True:
            try:
                self._producer.produce(*row)
            except BufferError:
                self._producer.poll(0.05)
            except KafkaException as failure:
                raise to_connect_error(code_of(failure), f"Producing to {self._topic}", self._servers) from failure
            else:
                self._producer.poll(0)
                self._reports.raise_failure(self._servers)
                return
            if time.monotonic() > deadline:
                raise self._silence()

    def write_alone(
        self, key: bytes | None, value: bytes | None, headers: RawHeaders | None = None, timestamp: int | None = None
    ) -> None:
        """Write a record by itself and wait for it; raises as ``produce``.

        What the brokers refuse it for is raised as what the client refuses: it is this record's error.
        """
        self.flush()
        try:
            self.produce(key, value, headers, timestamp)
            self.flush()
        except ConnectError:
            if not self._reports.failed:
                raise
            error, _ = self._reports.failed.pop()
            raise to_connect_error(error, f"Producing to {self._topic}", self._servers) from KafkaException(error)

    def flush(self) -> None:
        """Wait until every record is in Kafka; raises as ``produce``."""
        waiting = self._producer.flush(self._timeout_seconds)
        self._reports.raise_failure(self._servers)
        if waiting:
            raise self._silence()

    def close(self) -> None:
        """Disconnect from the brokers; what was not flushed is dropped."""
        destroy(self._producer)

    def __enter__(self) -> PlainWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _silence(self) -> RetriableError:
        return RetriableError(
            f"The brokers of bootstrap.servers={self._servers} accepted no record for {self._topic} for"
            f" {self._timeout_seconds:g} s; last error: {self._errors.last or 'none'}"
        )
