"""The main job against brokers that want a login and check rights: whose settings count where, as in Connect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.rights import unreadable_topics
from tests.integration.plugin_worker import eventually, plugin_worker
from tests.integration.secured import SecuredBroker, right, secured_broker
from tests.integration.topics import Topics

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
