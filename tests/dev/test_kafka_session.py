"""A broker that was killed, and started again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.kafka_session import end_old_session
from connect_core.dev.stack import Stack

pytestmark = pytest.mark.servers


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path / ".connect", ("kafka",))
    try:
        stack.up()
        yield stack
    finally:
        stack.down()


def test_killed_broker_registers_at_once(stack: Stack) -> None:
    """With a session of before, it would lead partitions until that expires, and lose the ends of transactions."""
    kafka = stack.service("kafka")
    assert not (stack.home.path / "kafka" / "controller.properties").exists()
    kafka.kill()
    kafka.await_healthy(90)
    log = kafka.log_path.read_text()
    assert log.count("Successfully registered broker") == 2
    assert "DuplicateBrokerRegistrationException" not in log
    assert (stack.home.path / "kafka" / "controller.properties").exists()


@pytest.mark.matrix
def test_broker_that_ended_by_itself_has_no_old_session(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".kafka_cleanshutdown").touch()
    end_old_session(("no such program",), tmp_path, tmp_path, 1)
    assert not (tmp_path / "controller.properties").exists()
