"""What a plugin threw, and the end of a host, as errors of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.errors import (
    AttemptError,
    ConfigError,
    ConnectError,
    DataError,
    NotFoundError,
    RetriableError,
    ServiceError,
)

__all__ = ["HostEndedError", "HostTimeoutError", "PluginStartError", "java_error"]

_KINDS: dict[str, type[ConnectError]] = {
    "retriable": RetriableError,
    "data": DataError,
    "config": ConfigError,
    "not-found": NotFoundError,
    "transient": AttemptError,
}


class HostEndedError(AttemptError, ServiceError):
    """Say that the Java process of a plugin ended by itself, and what it said last."""


class HostTimeoutError(AttemptError, ServiceError):
    """Say that a Java process did not answer in time."""


class PluginStartError(ServiceError):
    """Say that a transform, predicate or converter does not start, whatever the record is."""


def java_error(told: Mapping[str, Any]) -> ConnectError:
    """Return the error that stands for an exception; Java's trace is its note.

    ``java_class`` is the exception's class.
    """
    message = told.get("message")
    text = told["class"] if message is None else f"{told['class']}: {message}"
    if told["kind"] == "config" and message is not None:
        # Connect shows what is wrong with a setting by its message alone.
        text = message
    error = _KINDS.get(told["kind"], ConnectError)(text)
    error.java_class = told["class"]
    error.add_note(told["trace"].rstrip())
    return error
