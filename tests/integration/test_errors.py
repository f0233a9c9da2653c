"""Bad records and broken connectors in a running worker: named, skipped, reported, never lost without a word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message

from tests.integration.plugin_worker import PluginWorker, eventually
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]

DEAD = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}
LINES = [b'{"text":"one"}', b"no JSON", b'{"text":"three"}']
EXPLODE = {
    "transforms": "number",
    "transforms.number.type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms.number.spec": "int32",
}


def file_sink(topic: str, file: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "topics": topic, "file": file, **(more or {})}


def letters(topics: Topics, topic: str, count: int) -> list[Message]:
    """Return committed records with their headers."""
    settings = {"bootstrap.servers": topics.bootstrap, "group.id": f"check-{topic}", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.auto.commit": False})
    consumer.subscribe([topic])
    found: list[Message] = []

    def read() -> list[Message]:
        found.extend(one for one in consumer.consume(100, 0.5) if one.error() is None)
        return found

    try:
        return list(eventually(read, lambda messages: len(messages) >= count))
    finally:
        consumer.close()


def context_of(message: Message) -> dict[str, str]:
    return {key: (value or b"").decode() for key, value in message.headers() or []}


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_unreadable_record_fails_the_task_and_nothing_is_committed(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    topics.write(topic, LINES, 1)
    worker.put("strict", file_sink(topic, "strict.txt"))
    trace = worker.await_failure("strict", f"topic {topic}, partition 0, offset 1 in stage VALUE_CONVERTER")
    assert "JsonConverter" in trace
    assert "found 'no' at character 1" in trace
    assert "errors.tolerance=all" in trace
    assert lines_of(worker.folder / "strict.txt") == []
    assert worker.offsets("strict") == []
    worker.delete("strict")


def test_unreadable_record_is_a_dead_letter_of_the_sink(worker: PluginWorker, topics: Topics) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    topics.write(topic, LINES, 1)
    more = {**DEAD, "errors.deadletterqueue.topic.name": dead}
    worker.put("lenient", file_sink(topic, "lenient.txt", more))
    eventually(lambda: len(lines_of(worker.folder / "lenient.txt")), lambda count: count == 2)
    (message,) = letters(topics, dead, 1)
    told = context_of(message)
    assert message.value() == b"no JSON"
    assert [told[f"__connect.errors.{name}"] for name in ("topic", "partition", "offset", "stage")] == [
        *(topic, "0", "1", "VALUE_CONVERTER")
    ]
    assert told["__connect.errors.connector.name"] == "lenient"
    assert told["__connect.errors.task.id"] == "0"
    assert told["__connect.errors.class.name"] == "org.apache.kafka.connect.json.JsonConverter"
    assert told["__connect.errors.exception.class.name"].endswith("DataError")
    assert "Traceback" in told["__connect.errors.exception.stacktrace"]
    (line,) = eventually(lambda: worker.skipped("lenient"), bool)
    assert (line.skipped.stage, line.skipped.records, line.skipped.sample["offset"]) == ("VALUE_CONVERTER", 1, 1)
    worker.delete("lenient")


def test_bad_source_record_is_a_dead_letter_exactly_once(worker: PluginWorker, topics: Topics) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    (worker.folder / "numbers.txt").write_text("1\ntwo\n3\n")
    source = {"connector.class": "FileStreamSource", "file": "numbers.txt", "topic": topic}
    worker.put("numbers", {**source, **EXPLODE, **DEAD, "errors.deadletterqueue.topic.name": dead})
    assert topics.read(topic, 2, 180) == [b"1", b"3"]
    (message,) = letters(topics, dead, 1)
    told = context_of(message)
    assert message.value() == b'"two"'
    assert told["__connect.errors.topic"] == topic
    assert told["__connect.errors.stage"] == "TRANSFORMATION"
    assert json.loads(told["__connect.errors.source.partition"]) == {"filename": "numbers.txt"}
    assert json.loads(told["__connect.errors.source.offset"]) == {"position": 6}
    (line,) = eventually(lambda: worker.skipped("numbers"), bool)
    assert (line.skipped.stage, line.skipped.records) == ("TRANSFORMATION", 1)
    worker.delete("numbers")


def test_too_many_skipped_records_fail_the_task(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    topics.write(topic, [b'{"text":"one"}', b"bad", b"worse", b"worst"], 1)
    worker.put("capped", file_sink(topic, "capped.txt", {"errors.tolerance": "all", "errors.max.count": "2"}))
    worker.await_failure("capped", "more than errors.max.count=2")
    worker.put("capped", file_sink(topic, "capped.txt", {"errors.tolerance": "all", "errors.max.share": "0.5"}))
    worker.await_failure("capped", "3 of 4 records were skipped, a share of 0.75")
    assert lines_of(worker.folder / "capped.txt") == []
    assert worker.offsets("capped") == []
    worker.delete("capped")


def test_record_the_task_reports_is_a_dead_letter(worker: PluginWorker, topics: Topics) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    topics.write(topic, [b'"good"', b'"bad"', b'"fine"'], 1)
    file = worker.folder / "picky.txt"
    picky = {"connector.class": "PickySink", "topics": topic, "file": str(file)}
    worker.put("picky", {**picky, **DEAD, "errors.deadletterqueue.topic.name": dead})
    eventually(lambda: lines_of(file), lambda lines: lines == ['"good"', '"fine"'])
    (message,) = letters(topics, dead, 1)
    told = context_of(message)
    assert (message.value(), told["__connect.errors.stage"], told["__connect.errors.offset"]) == (
        b'"bad"',
        "TASK_PUT",
        "1",
    )
    assert told["__connect.errors.exception.message"] == "bad is bad"
    worker.delete("picky")


def test_task_that_hangs_is_ended_and_named(worker: PluginWorker, topics: Topics) -> None:
    hanging = {"connector.class": "HangingSource", "topic": topics.create(1), "stream": "s", "count": "1"}
    worker.put("hanging", {**hanging, "hook.timeout.ms": "1000"})
    # Said a moment after the failure itself.
    trace = worker.await_failure("hanging", "The next automatic restart is at")
    assert "HangingSourceTask.start did not return within 1 s; it is at " in trace
    assert "acme_connectors.py" in trace
    worker.delete("hanging")


def test_connector_that_cannot_plan_has_failed_with_its_cause(worker: PluginWorker) -> None:
    worker.put("raising", {"connector.class": "RaisingSource", "topic": "t", "stream": "s", "count": "1"})
    trace = worker.await_failure("raising", "RaisingSource.task_configs raised ValueError: no tables found")
    assert "KeyError: 'orders'" in trace
    status = worker.status("raising")
    assert (status["connector"]["state"], status["tasks"]) == ("FAILED", [])
    worker.delete("raising")
