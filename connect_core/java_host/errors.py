"""Maps a plugin's exceptions, and the end of a host, to ConnectError."""

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
    """The Java process of a plugin ended by itself; the message contains its last output."""


class HostTimeoutError(AttemptError, ServiceError):
    """A Java process did not respond in time."""


class PluginStartError(ServiceError):
    """A transform, predicate or converter does not start, independently of the record."""


def java_error(told: Mapping[str, Any]) -> ConnectError:
    """Return the error for a Java exception; its stack trace is added as a note.

    ``java_class`` is the exception's class.
    """
    message = told.get("message")
    text = told["class"] if message is None else f"{told['class']}: {message}"
    if told["kind"] == "config" and message is not None:
        # Connect shows an invalid setting by its message alone.
        text = message
    error = _KINDS.get(told["kind"], ConnectError)(text)
    error.java_class = told["class"]
    error.add_note(told["trace"].rstrip())
    return error
