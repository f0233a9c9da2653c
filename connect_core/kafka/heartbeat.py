"""Heartbeats through the status topic: tasks report progress there and receive stop requests."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from confluent_kafka import Consumer, Message
from confluent_kafka import TopicPartition as KafkaPartition

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import ConnectError
from connect_core.interval.values import TaskPlan
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.partition_ends import high_watermarks
from connect_core.kafka.plain_writer import PlainWriter
from connect_core.kafka.progress import StopRequest, TaskReport, decode_report
from connect_core.kafka.topics import topic_partitions

__all__ = ["StatusTail", "TaskHeartbeat", "ask_to_stop"]

_log = logging.getLogger(__name__)
_BEGIN_SECONDS = 4.0
"""Most tasks have ended by then; a driver repeats what it asks, so that the others hear it a little later."""
_LISTEN_SECONDS = 0.25


def ask_to_stop(clients: KafkaClients, topic: str, key: IntervalKey) -> None:
    """Ask the running tasks of an interval to stop; received by those that listen now. Raise ConnectError."""
    with PlainWriter(clients.of_worker(), topic, is_idempotent=False) as writer:
        writer.produce(*StopRequest(key).encode())
        writer.flush()


@dataclass(slots=True)
class StatusTail:
    """Reads the status topic from its end on; not thread-safe. A missing topic counts as empty."""

    clients: KafkaClients
    topic: str
    _consumer: Consumer | None = None

    def open(self) -> None:
        """Start at the current end. Raise RetriableError if the brokers do not respond."""
        if self._consumer is not None:
            return
        clients = self.clients.of_worker()
        admin, servers = clients.admin(), clients.bootstrap_servers
        _, count = topic_partitions(admin, [self.topic], servers).get(self.topic, ("", 0))
        ends = high_watermarks(admin, [TopicPartition(self.topic, number) for number in range(count)], servers)
        # Reports that a trimmed topic has already lost are not needed.
        self._consumer = clients.consumer({"auto.offset.reset": "latest"})
        self._consumer.assign([KafkaPartition(*key, end) for key, end in ends.items()])

    def poll(self, timeout: float = 0.0) -> Iterator[TaskReport | StopRequest]:
        """Iterate over what has been reported since the last call, waiting ``timeout`` seconds for it."""
        self.open()
        assert self._consumer is not None
        messages: list[Message] = self._consumer.consume(10_000, timeout)
        for message in messages:
            report = None if message.error() else decode_report(message.key(), message.value())
            if report is not None:
                yield report

    def close(self) -> None:
        """Disconnect from the brokers."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


@dataclass(slots=True)
class TaskHeartbeat:
    """Reports a task's progress every 5 seconds and sets ``stopping`` when asked to.

    A separate thread does this: it runs while the task is blocked. A task that ends within four seconds needs none of
    the three Kafka clients. Errors of the status topic are logged and never fail the task.
    """

    clients: KafkaClients
    topic: str
    plan: TaskPlan
    stopping: threading.Event
    seconds: float = 5.0
    _latest: tuple[int, Mapping[TopicPartition, int]] = (0, {})
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start reporting and listening."""
        name = f"heartbeat-{self.plan.key.connector}-{self.plan.task}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def beat(self, records: int, positions: Mapping[TopicPartition, int]) -> None:
        """Set the progress to report next; has no cost."""
        self._latest = records, positions

    def close(self) -> None:
        """Report the end, if anything was reported, and stop listening."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(self.seconds)

    def __enter__(self) -> TaskHeartbeat:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        if self._ended.wait(_BEGIN_SECONDS):
            return
        tail = StatusTail(self.clients, self.topic)
        try:
            tail.open()
            # Not idempotent: a task that ends now would wait for a producer id.
            clients = self.clients.of_worker()
            with PlainWriter(clients, self.topic, self.seconds, is_idempotent=False) as writer:
                self._talk(tail, writer)
        except ConnectError as failure:
            _log.warning("No more heartbeats from task %s-%d: %s", self.plan.key.connector, self.plan.task, failure)
        finally:
            tail.close()

    def _talk(self, tail: StatusTail, writer: PlainWriter) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            if time.monotonic() >= due:
                writer.produce(*self._report(is_ended=False).encode())
                due += self.seconds
            # Do not wait in the poll: it would not notice that the task has ended.
            self._ended.wait(_LISTEN_SECONDS)
            for report in tail.poll():
                if isinstance(report, StopRequest) and report.key == self.plan.key:
                    self.stopping.set()
        writer.produce(*self._report(is_ended=True).encode())
        writer.flush()

    def _report(self, is_ended: bool) -> TaskReport:
        records, positions = self._latest
        now = int(time.time() * 1000)
        plan = self.plan
        return TaskReport(plan.key, plan.task, plan.attempt_id, records, positions, now, socket.gethostname(), is_ended)
