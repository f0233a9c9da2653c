"""Dead letters that are too large: what the real client answers."""

from __future__ import annotations

import pytest

from connect_core.errors import DataError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.plain_writer import PlainWriter
from connect_core.task.letter_size import is_too_large


def test_refusal_of_the_client_shows_that_the_record_is_too_large() -> None:
    clients = KafkaClients({"bootstrap.servers": "127.0.0.1:1"}, {"producer.override.max.request.size": "2000"})
    with PlainWriter(clients, "dead") as writer, pytest.raises(DataError) as refusal:
        writer.produce(None, b"x" * 3000)
    assert is_too_large(refusal.value)


@pytest.mark.parametrize("cause", [None, ValueError(), ValueError("MSG_SIZE_TOO_LARGE")])
def test_other_errors_do_not_count_as_too_large(cause: Exception | None) -> None:
    error = DataError("MSG_SIZE_TOO_LARGE")
    error.__cause__ = cause
    assert not is_too_large(error)
