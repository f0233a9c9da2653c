"""What Kafka's errors mean to the protocol."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from connect_core.errors import ConnectError, DataError, NotFoundError, RetriableError, StaleEpochError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.failures import called, code_of, is_too_large, to_connect_error
from connect_core.kafka.plain_writer import PlainWriter


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (KafkaError._FENCED, StaleEpochError),
        (KafkaError.INVALID_PRODUCER_EPOCH, StaleEpochError),
        (KafkaError.PRODUCER_FENCED, StaleEpochError),
        (KafkaError.MSG_SIZE_TOO_LARGE, DataError),
        (KafkaError.INVALID_RECORD, DataError),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, NotFoundError),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, ConnectError),
        (KafkaError._AUTHENTICATION, ConnectError),
        (KafkaError._TIMED_OUT, RetriableError),
        (KafkaError._ALL_BROKERS_DOWN, RetriableError),
        (KafkaError.NOT_COORDINATOR, RetriableError),
        (KafkaError.NOT_ENOUGH_REPLICAS, RetriableError),
        (KafkaError.KAFKA_STORAGE_ERROR, RetriableError),
    ],
)
def test_recovery_is_in_the_type(code: int, kind: type[ConnectError]) -> None:
    found = to_connect_error(KafkaError(code), "Reading t-0", "b:1", "no route")
    assert type(found) is kind
    assert all(part in str(found) for part in ("Reading t-0", "b:1", "no route"))


def test_fatal_error_beneath_a_callback_is_found() -> None:
    fatal = KafkaException(KafkaError(KafkaError._FENCED))

    def call() -> None:
        try:
            raise fatal
        except KafkaException as cause:
            raise SystemError("returned a result with an exception set") from cause

    with pytest.raises(KafkaException) as caught:
        called(call)
    assert caught.value is fatal


def test_other_system_errors_are_let_through() -> None:
    def call() -> None:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        called(call)


def test_text_for_an_error_is_wrapped() -> None:
    assert code_of(KafkaException("odd")).code() == KafkaError._FAIL


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
