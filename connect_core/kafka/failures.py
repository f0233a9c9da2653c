"""Maps Kafka errors to the protocol's exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

from connect_core.errors import ConnectError, DataError, NotFoundError, RetriableError, StaleEpochError

__all__ = ["FENCED", "called", "code_of", "is_too_large", "to_connect_error", "to_produce_error"]

Result = TypeVar("Result")
"""What the client method returns."""

FENCED = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})
"""Another producer has run ``init_transactions`` with the same transactional id."""

_BAD_RECORD = frozenset(
    {
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_RECORD,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
    }
)
_FATAL = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.INVALID_CONFIG,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_TRANSACTION_TIMEOUT,
        KafkaError.POLICY_VIOLATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._AUTHENTICATION,
        KafkaError._INVALID_ARG,
        KafkaError._SSL,
        KafkaError._UNSUPPORTED_FEATURE,
    }
)
_MISSING = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})


def code_of(failure: KafkaException) -> KafkaError:
    """Return the error in a client exception."""
    error = failure.args[0]
    return error if isinstance(error, KafkaError) else KafkaError(KafkaError._FAIL, str(error))


def is_too_large(error: ConnectError) -> bool:
    """Return whether this very record was refused because of its size.

    Of a record that was not sent alone, a broker's refusal comes later, and may be of any other.
    """
    cause = error.__cause__
    return isinstance(cause, KafkaException) and code_of(cause).code() == KafkaError.MSG_SIZE_TOO_LARGE


def called(function: Callable[..., Result], *arguments: float) -> Result:
    """Call a client method that may run delivery callbacks. Raise KafkaException.

    If a fatal error is raised while callbacks are still to run, Python wraps it in a SystemError.
    """
    try:
        return function(*arguments)
    except SystemError as wrapper:
        inner: BaseException | None = wrapper
        while inner is not None and not isinstance(inner, KafkaException):
            inner = inner.__cause__ or inner.__context__
        if inner is None:
            raise
        raise inner from wrapper


def to_connect_error(error: KafkaError, act: str, servers: str, last: str = "") -> ConnectError:
    """Return the exception for a Kafka error; ``act`` describes the failed operation.

    An error that is neither the record's fault, nor a missing right, nor a fence, may be temporary. ``last``: the
    client's last error, more informative than a timeout.
    """
    detail = f"{act} failed: {error.str()} ({error.name()}; brokers {servers})"
    if last and last not in detail:
        detail += f"; last error: {last}"
    code = error.code()
    if code in FENCED:
        return StaleEpochError(
            f"{detail}. Another attempt has taken over, or the transaction outlived transaction.timeout.ms"
        )
    if code in _BAD_RECORD:
        return DataError(detail)
    if code in _MISSING:
        return NotFoundError(detail)
    if code in _FATAL:
        return ConnectError(detail)
    return RetriableError(detail)


def to_produce_error(error: KafkaError, act: str, servers: str, last: str = "") -> ConnectError:
    """Return the exception for an error of a producer, as ``to_connect_error``.

    A partition that does not exist is the record's fault: nothing else named it.
    """
    found = to_connect_error(error, act, servers, last)
    if error.code() != KafkaError._UNKNOWN_PARTITION:
        return found
    return DataError(f"{found}. The topic has no such partition: add it, or skip the record")
