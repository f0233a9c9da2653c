"""The main job against brokers that want a login and check rights: whose settings count where, as in Connect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.rights import unreadable_topics
from connect_core.migration.topics_here import topics_here
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import Harness, worker
from tests.integration.plugin_worker import eventually, plugin_worker
from tests.integration.secured import SecuredBroker, right, secured_broker
from tests.integration.topics import Topics

__all__ = ["harness", "sqlite_template"]

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_main_job_with_a_login_each_and_a_right_revoked_on_the_way(folder: Path, broker: SecuredBroker) -> None:
    topic = Topics(broker.internal).create(1)
    logins = broker.login("worker") | broker.login("producer", "producer.") | broker.login("consumer", "consumer.")
    lines, copied = folder / "lines.txt", folder / "copied.txt"
    lines.write_text("one\ntwo\n")
    with plugin_worker(folder, broker.bootstrap, logins) as worker:
        worker.put("lines", {"connector.class": "FileStreamSource", "file": str(lines), "topic": topic})
        worker.put("copy", {"connector.class": "FileStreamSink", "topics": topic, "file": str(copied)})
        eventually(lambda: lines_of(copied), lambda found: found == ["one", "two"], 240)
        write = right("producer", ResourceType.TOPIC, AclOperation.WRITE)
        broker.revoke(write)
        with lines.open("a") as file:
            file.write("three\n")
        worker.await_failure("lines", "AUTHORIZATION", 240)
        assert lines_of(copied) == ["one", "two"]
        broker.allow(write)

        def lines_after_restart() -> list[str]:
            worker.restart("lines")
            return lines_of(copied)

        eventually(lines_after_restart, lambda found: found == ["one", "two", "three"])


def test_login_left_out_names_its_prefix(folder: Path, broker: SecuredBroker) -> None:
    topic = Topics(broker.internal).create(1)
    Topics(broker.internal).write(topic, [b'"x"'], 1)
    unasked = {"connect.validate.live": "false"}
    with plugin_worker(folder, broker.bootstrap, broker.login("worker") | unasked) as worker:
        (folder / "lines.txt").write_text("one\n")
        worker.put("lines", {"connector.class": "FileStreamSource", "file": "lines.txt", "topic": topic})
        worker.put("copy", {"connector.class": "FileStreamSink", "topics": topic, "file": "copied.txt"})
        worker.await_failure("lines", "producer.security.protocol is not set")
        worker.await_failure("copy", "consumer.security.protocol is not set")


def test_rights_to_topics_are_asked_before_a_sink_runs(broker: SecuredBroker) -> None:
    topic = Topics(broker.internal).create(1)
    logins = broker.login("worker") | broker.login("consumer", "consumer.") | {"bootstrap.servers": broker.bootstrap}
    clients = KafkaClients(logins, {"name": "copy"})
    assert unreadable_topics(clients, [topic, "not-there-yet"], 30) == []
    read = right("consumer", ResourceType.TOPIC, AclOperation.READ)
    broker.revoke(read)
    try:
        assert unreadable_topics(clients, [topic], 30) == [topic]
    finally:
        broker.allow(read)


def test_an_import_tells_which_topics_are_there_and_may_be_used(broker: SecuredBroker, harness: Harness) -> None:
    topic, other = Topics(broker.internal).create(1), Topics(broker.internal).create(1)
    logins = broker.login("worker") | broker.login("consumer", "consumer.") | broker.login("producer", "producer.")
    settings = {**logins, "bootstrap.servers": broker.bootstrap, "connect.validate.live": "true"}
    herder = replace(harness.herder, worker=worker(**settings))
    sink = {"name": "a", "topics": f"{topic},gone", "errors.deadletterqueue.topic.name": other}

    def told(kind: str, config: dict[str, str], *used: str) -> list[tuple[str, str, str]]:
        return [(one.name, one.use, one.here) for one in topics_here(herder, kind, config, used)]

    assert told("sink", sink, topic) == [
        (topic, "reads", "is there, and can be read"),
        ("gone", "reads", "does not exist yet"),
        (other, "writes", "is there, and can be written"),
    ]
    assert told("source", {"name": "b", "topic": topic}, other) == [
        (topic, "writes", "is there, and can be written"),
        (other, "writes", "is there, and can be written"),
    ]
    refused = [right(user, ResourceType.TOPIC, act) for user, act in _RIGHTS]
    for one in refused:
        broker.revoke(one)
    try:
        assert [here for _, _, here in told("sink", sink)] == [
            "may not be read here: grant the consumer's user Read",
            "does not exist yet",
            "may not be written here: grant the producer's user Write",
        ]
    finally:
        for one in refused:
            broker.allow(one)
    herder = replace(herder, worker=worker(**settings | {"bootstrap.servers": "127.0.0.1:9"}))
    assert {here for _, _, here in told("sink", sink)} == {"unknown: the brokers do not respond here"}


_RIGHTS = (("consumer", AclOperation.READ), ("producer", AclOperation.WRITE))
