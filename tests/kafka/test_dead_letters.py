"""Dead letters: Connect's headers, the record as it was."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace

import pytest

from connect_core.errors import DataError, RetriableError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.dead_letters import DeadLetter, ErrorContext, open_dead_letter_queue
from connect_core.kafka.plain_writer import PlainWriter
from connect_core.task.dead_letters import LettersOf, SinkDeadLetters
from connect_core.task.tolerance import Failure, Place, Stage, Step
from tests.kafka.cluster import Cluster

LETTER = DeadLetter("orders", 3, 42, b"k", b"bad", 1_700_000_000_000, [("own", b"1")])
CONTEXT = ErrorContext("sink", 1, "VALUE_CONVERTER", "JsonConverter", "DataError", "broken", "Traceback …")


def test_context_is_in_connects_headers() -> None:
    assert LETTER.with_context(CONTEXT) == [
        ("own", b"1"),
        ("__connect.errors.topic", b"orders"),
        ("__connect.errors.partition", b"3"),
        ("__connect.errors.offset", b"42"),
        ("__connect.errors.connector.name", b"sink"),
        ("__connect.errors.task.id", b"1"),
        ("__connect.errors.stage", b"VALUE_CONVERTER"),
        ("__connect.errors.class.name", b"JsonConverter"),
        ("__connect.errors.exception.class.name", b"DataError"),
        ("__connect.errors.exception.message", b"broken"),
        ("__connect.errors.exception.stacktrace", "Traceback …".encode()),
    ]


def test_context_without_an_error_ends_at_the_class() -> None:
    headers = LETTER.with_context(ErrorContext("sink", 1, "TASK_PUT", "Task"))
    assert headers[-1] == ("__connect.errors.class.name", b"Task")


@pytest.mark.servers
@pytest.mark.parametrize("has_context", [True, False])
def test_letter_is_in_a_topic_of_one_partition(cluster: Cluster, has_context: bool) -> None:
    topic = f"dead-{uuid.uuid4().hex[:8]}"
    queue = open_dead_letter_queue(cluster.clients(), topic, 1, has_context)
    queue.report(LETTER, CONTEXT)
    queue.flush()
    queue.close()
    (found,) = cluster.read(topic)
    assert (found.key(), found.value(), found.timestamp()[1]) == (b"k", b"bad", 1_700_000_000_000)
    assert found.headers() == (LETTER.with_context(CONTEXT) if has_context else [("own", b"1")])


@pytest.mark.servers
def test_letter_larger_than_its_topic_takes_is_shortened_and_the_others_are_whole(cluster: Cluster) -> None:
    topic = cluster.create(max_message_bytes="100000")
    queue = open_dead_letter_queue(cluster.clients(), topic, 1, True)
    letters = SinkDeadLetters(LettersOf("sink", 1, topic, True), lambda: queue)
    values = [*map(os.urandom, [500] * 300), os.urandom(150_000), os.urandom(50_000), b"last"]
    for offset, value in enumerate(values):
        letter = replace(LETTER, offset=offset, value=value)
        step = Step(Stage.VALUE_CONVERTER, object(), Place("orders", 3, offset))
        letters.report(Failure(step, DataError("broken"), letter=letter))
    letters.flush()
    letters.close()
    values[300] = b""
    assert [message.value() for message in cluster.read(topic)] == values


@pytest.mark.servers
def test_refused_record_is_a_data_error(cluster: Cluster) -> None:
    topic = cluster.create(max_message_bytes="1000")
    with PlainWriter(cluster.clients(), topic) as writer:
        with pytest.raises(DataError):
            writer.produce(None, b"x" * 2_000_000)
        writer.produce(None, os.urandom(5000))
        with pytest.raises(DataError, match=f"{topic}-0"):
            writer.flush()


def test_silent_brokers_are_named() -> None:
    with PlainWriter(KafkaClients({"bootstrap.servers": "127.0.0.1:1"}), "t", timeout_seconds=0.5) as writer:
        writer.produce(None, b"v")
        with pytest.raises(RetriableError, match=r"127\.0\.0\.1:1"):
            writer.flush()
