"""The topic of config/connectors/visits-hourly.properties: visits of the shop's pages, three hours of them at first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.errors import ConnectError

__all__ = ["HOUR", "PAST_HOURS", "VISITS_AN_HOUR", "Visits", "last_full_hour"]

HOUR = timedelta(hours=1)
PAST_HOURS, VISITS_AN_HOUR = 3, 60
_PARTITIONS = 2
_SECONDS = 15.0
_PAGES, _VISITORS = 7, 23


def last_full_hour(now: datetime) -> datetime:
    """Return when the last full hour ended."""
    return now.replace(minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Visits:
    """A topic on a broker. Methods raise ConnectError if the broker does not do what they ask."""

    servers: str
    topic: str

    def create(self) -> datetime:
        """Create the topic with a visit in each minute of the three last full hours → when the first one began.

        A topic that has records is left as it is.
        """
        try:
            first = None if self._create_topic() else self._first_timestamp()
            if first is None:
                first = last_full_hour(datetime.now(UTC)) - PAST_HOURS * HOUR
                self._write(first + number * HOUR / VISITS_AN_HOUR for number in range(PAST_HOURS * VISITS_AN_HOUR))
            return last_full_hour(first)
        except KafkaException as failure:
            raise self._refused(failure.args[0]) from failure

    def add(self) -> None:
        """Write a visit of now."""
        try:
            self._write([datetime.now(UTC)])
        except KafkaException as failure:
            raise self._refused(failure.args[0]) from failure

    def _create_topic(self) -> bool:
        """Return whether it was missing."""
        # Nothing expires, so that past hours can always be exported again.
        topic = NewTopic(self.topic, _PARTITIONS, 1, config={"retention.ms": "-1"})
        client = AdminClient(self._client())
        try:
            client.create_topics([topic], operation_timeout=_SECONDS)[self.topic].result(_SECONDS)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
            return False
        return True

    def _first_timestamp(self) -> datetime | None:
        """Return the time of the first record; ``None`` if there is none."""
        consumer = Consumer({**self._client(), "group.id": "connect-quickstart", "auto.offset.reset": "earliest"})
        try:
            part = TopicPartition(self.topic, 0)
            low, high = consumer.get_watermark_offsets(part, timeout=_SECONDS)
            if low == high:
                return None
            consumer.assign([TopicPartition(self.topic, 0, low)])
            message = consumer.poll(_SECONDS)
            if message is None or message.error():
                raise self._refused(message.error() if message else "its first record cannot be read")
            return datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC)
        finally:
            consumer.close()

    def _write(self, moments: Iterable[datetime]) -> None:
        failures = list[Any]()
        producer = Producer(self._client())
        for number, moment in enumerate(moments):
            visit = {"page": f"/item/{number % _PAGES}", "visitor": f"visitor-{number % _VISITORS}"}
            producer.produce(
                self.topic,
                orjson.dumps(visit),
                partition=number % _PARTITIONS,
                timestamp=int(moment.timestamp() * 1000),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        if producer.flush(_SECONDS) or failures:
            raise self._refused(failures[0] if failures else f"no answer within {_SECONDS:.0f} s")

    def _client(self) -> dict[str, Any]:
        return {"bootstrap.servers": self.servers, "log_level": 0}

    def _refused(self, reason: Any) -> ConnectError:
        text = reason.str() if isinstance(reason, KafkaError) else reason
        return ConnectError(f"The broker at {self.servers} cannot keep topic {self.topic}: {text}.")
