"""Makes the broker write to its log: live data for a connector that follows it."""

from __future__ import annotations

import time
import uuid

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.dev.service import Environment
from connect_core.dev.stack import RunningService
from connect_core.errors import ConnectError

__all__ = ["cause_log_line"]

_SECONDS = 15.0


def cause_log_line(kafka: RunningService, environment: Environment) -> str:
    """Create a topic and delete it → its name, which the broker has logged.

    Raise ConnectError if the broker does not create the topic, or does not log it.
    """
    name = f"quickstart-{uuid.uuid4().hex[:12]}"
    written = kafka.log_path.stat().st_size
    client = AdminClient({"bootstrap.servers": environment["CONNECT_BOOTSTRAP_SERVERS"], "log_level": 0})
    try:
        client.create_topics([NewTopic(name, 1, 1)], operation_timeout=_SECONDS)[name].result(_SECONDS)
    except KafkaException as failure:
        raise ConnectError(
            f"The broker cannot create a topic: {failure.args[0].str()}. See {kafka.log_path}."
        ) from failure
    _await_line(kafka, written, name)
    client.delete_topics([name], operation_timeout=_SECONDS)
    client.poll(0)
    return name


def _await_line(kafka: RunningService, start: int, name: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while name.encode() not in _text_after(kafka, start):
        if time.monotonic() > deadline:
            raise ConnectError(f"The broker created topic {name} and did not log it within {_SECONDS:.0f} s.")
        time.sleep(0.02)


def _text_after(kafka: RunningService, start: int) -> bytes:
    with kafka.log_path.open("rb") as file:
        size = file.seek(0, 2)
        # A rotated log starts over.
        file.seek(start if start <= size else 0)
        return file.read()
