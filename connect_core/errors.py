"""The exceptions of connect-core; the type of an exception determines how it may be handled.

::

    ConnectError                      fatal: the task or the call fails at once
    ├── RetriableError                the same work may succeed later
    │   ├── UnclearOutcomeError       a commit was sent, and no response was received
    │   └── AttemptError              the attempt is over; another one may succeed
    ├── ServiceError                  a service that every record needs fails; no record is skipped for that
    ├── DataError                     one record is bad; ``errors.tolerance`` may skip it
    │   ├── SchemaBuilderError
    │   └── SchemaProjectorError
    ├── BadRequestError               a call's arguments do not make sense
    ├── NotFoundError                 a named thing does not exist
    ├── AlreadyExistsError            a name is taken
    ├── OvertakenError                another request came first; the call can be tried again
    ├── IllegalWorkerStateError       the call does not fit the life cycle
    ├── StaleEpochError               a newer plan owns the connector; this one must stop
    │   └── LeaseLostError            another holder has the connector's lease
    ├── DataLossError                 planned records no longer exist, and the policy is to fail
    ├── MissingLibraryError           an extra of the wheel, named in the message, is not installed
    ├── ConfigError                   a setting is wrong; the message names key, value and remedy
    ├── IllegalArgumentError          a caller's mistake, as Java's IllegalArgumentException
    ├── NullValueError                a null where Connect throws NullPointerException
    └── IllegalStateError             as Java's IllegalStateException
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "JAVA_NAMES",
    "PLUGIN_ERRORS",
    "AlreadyExistsError",
    "AttemptError",
    "BadRequestError",
    "ClassCastError",
    "ConfigError",
    "ConnectError",
    "DataError",
    "DataLossError",
    "IllegalArgumentError",
    "IllegalStateError",
    "IllegalWorkerStateError",
    "IndexOutOfBoundsError",
    "LeaseLostError",
    "MissingLibraryError",
    "NotFoundError",
    "NullValueError",
    "NumberFormatError",
    "OvertakenError",
    "RetriableError",
    "SchemaBuilderError",
    "SchemaProjectorError",
    "SerializationError",
    "ServiceError",
    "StaleEpochError",
    "UnclearOutcomeError",
]


class ConnectError(Exception):
    """The task or the call fails; base class of all exceptions of connect-core.

    Connect: ``ConnectException``. Pickling keeps all attributes, so that
    the error of a Spark worker reaches the driver completely.
    ``java_class``: the class of the Java exception it represents, if any.
    """

    java_class: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[ConnectError], args: tuple[Any, ...], state: dict[str, Any]) -> ConnectError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class RetriableError(ConnectError):
    """The same work may succeed when tried again."""


class UnclearOutcomeError(RetriableError):
    """A commit was sent and no response was received: read the marker."""


class AttemptError(RetriableError):
    """The attempt has ended, as its process died or its outcome is unknown; another attempt may succeed.

    The call itself is never repeated within the attempt.
    """


class ServiceError(ConnectError):
    """A service that every record needs fails: ``errors.tolerance`` skips no record for that.

    Also a RetriableError if the service may answer later.
    """


class DataError(ConnectError):
    """A record's data does not fit its schema or format."""


class SchemaBuilderError(DataError):
    """A schema definition is inconsistent."""


class SchemaProjectorError(DataError):
    """A value cannot be projected onto an incompatible schema."""


class BadRequestError(ConnectError):
    """The arguments of a call are invalid. Connect: ``BadRequestException``."""


class NotFoundError(ConnectError):
    """The named connector, task or plugin does not exist."""


class AlreadyExistsError(ConnectError):
    """The name is taken."""


class OvertakenError(ConnectError):
    """Another request has changed what this one was made for; it can be tried again. Has no equivalent in Connect."""


class IllegalWorkerStateError(ConnectError):
    """A call does not fit the current state of its object."""


class StaleEpochError(ConnectError):
    """A newer plan owns the connector: this one must stop and change nothing more.

    ``epoch`` is the newer epoch if the target reports it, else 0.
    """

    epoch: int = 0


class LeaseLostError(StaleEpochError):
    """Another holder has the connector's lease."""


class DataLossError(ConnectError):
    """Planned records no longer exist, and the policy is to fail."""


class MissingLibraryError(ConnectError):
    """A library is not installed; the message names the extra of connect-core that installs it."""

    def __init__(self, library: str | None, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'connect-core[{extra}]'")


class ConfigError(ConnectError):
    """A setting is wrong; the message names the key, the value and the remedy."""

    def __init__(self, *args: object) -> None:
        """Take a message, or Connect's arguments (name, value[, message])."""
        if len(args) in (2, 3):
            name, value, *rest = args
            text = f"Invalid value {value} for configuration {name}"
            super().__init__(f"{text}: {rest[0]}" if rest and rest[0] is not None else text)
        else:
            super().__init__(*args)


class IllegalArgumentError(ConnectError, ValueError):
    """An argument is invalid, as in Java's IllegalArgumentException."""


class NumberFormatError(IllegalArgumentError):
    """A text is not a number, as in Java's NumberFormatException."""


class ClassCastError(ConnectError, TypeError):
    """A value is of another class, as in Java's ClassCastException."""


class IndexOutOfBoundsError(ConnectError, IndexError):
    """An index or group number is out of range, as in Java's IndexOutOfBoundsException."""


class SerializationError(ConnectError):
    """Text or bytes cannot be converted, as in Kafka's SerializationException."""


class NullValueError(ConnectError, TypeError):
    """A value is null, as in Java's NullPointerException."""


class IllegalStateError(ConnectError, RuntimeError):
    """A call is out of order, as in Java's IllegalStateException."""


PLUGIN_ERRORS = (Exception, SystemExit)
"""What a plugin's code may raise: one that is broken, or ends the process, must not take others with it."""

JAVA_NAMES: dict[str, type[ConnectError]] = {
    "AlreadyExistsException": AlreadyExistsError,
    "BadRequestException": BadRequestError,
    "ClassCastException": ClassCastError,
    "ConfigException": ConfigError,
    "ConnectException": ConnectError,
    "DataException": DataError,
    "IllegalArgumentException": IllegalArgumentError,
    "IllegalStateException": IllegalStateError,
    "IllegalWorkerStateException": IllegalWorkerStateError,
    "IndexOutOfBoundsException": IndexOutOfBoundsError,
    "NotFoundException": NotFoundError,
    "NullPointerException": NullValueError,
    "NumberFormatException": NumberFormatError,
    "RetriableException": RetriableError,
    "SchemaBuilderException": SchemaBuilderError,
    "SchemaProjectorException": SchemaProjectorError,
    "SerializationException": SerializationError,
}
