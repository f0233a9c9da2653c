"""The exceptions of connect-core; what may be done about one is in its type.

::

    ConnectError                      fatal: the task or the call fails at once
    ├── RetriableError                the same work may succeed later
    │   ├── UnclearOutcomeError       a commit was sent, its answer never came
    │   └── AttemptError              the attempt is over; another one may succeed
    ├── ServiceError                  a service that every record needs fails; no record is skipped for it
    ├── DataError                     one record is bad; ``errors.tolerance`` may skip it
    │   ├── SchemaBuilderError
    │   └── SchemaProjectorError
    ├── BadRequestError               a call's arguments do not make sense
    ├── NotFoundError                 a named thing does not exist
    ├── AlreadyExistsError            a name is taken
    ├── IllegalWorkerStateError       the call does not fit the life cycle
    ├── StaleEpochError               a newer plan owns the connector; this one must stop
    │   └── LeaseLostError            another holder has the connector's lease
    ├── DataLossError                 planned records are gone; the policy says fail
    ├── MissingLibraryError           an extra of the wheel is not installed; names it
    ├── ConfigError                   a setting is wrong; names key, value and remedy
    ├── IllegalArgumentError          a caller's mistake, as Java's class of that name
    ├── NullValueError                a null where Connect throws NullPointerException
    └── IllegalStateError             as Java's IllegalStateException
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "JAVA_NAMES",
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
    "RetriableError",
    "SchemaBuilderError",
    "SchemaProjectorError",
    "SerializationError",
    "ServiceError",
    "StaleEpochError",
    "UnclearOutcomeError",
]


class ConnectError(Exception):
    """Fail the task or the call; the root of everything connect-core raises.

    Connect: ``ConnectException``. Instances survive pickling with their
    attributes, so that a Spark worker's error reaches the driver whole.
    ``java_class``: the class of the Java exception it stands for, if any.
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
    """Say that the same work may succeed when tried again."""


class UnclearOutcomeError(RetriableError):
    """Say that a commit was sent and its answer never came: read the marker."""


class AttemptError(RetriableError):
    """Say that the attempt is over, as its process is gone or its outcome unknown; another attempt may succeed.

    The call itself is never repeated within the attempt.
    """


class ServiceError(ConnectError):
    """Say that a service fails which every record needs: ``errors.tolerance`` skips no record for it.

    Also a RetriableError where the service may answer later.
    """


class DataError(ConnectError):
    """Say that a record's data does not fit its schema or format."""


class SchemaBuilderError(DataError):
    """Refuse an inconsistent schema definition."""


class SchemaProjectorError(DataError):
    """Refuse to project a value onto an incompatible schema."""


class BadRequestError(ConnectError):
    """Refuse a call whose arguments do not make sense. Connect: ``BadRequestException``."""


class NotFoundError(ConnectError):
    """Say that the named connector, task or plugin does not exist."""


class AlreadyExistsError(ConnectError):
    """Say that the name is taken."""


class IllegalWorkerStateError(ConnectError):
    """Refuse a call that does not fit the current state of its object."""


class StaleEpochError(ConnectError):
    """Say that a newer plan owns the connector: stop, touch nothing more.

    ``epoch`` is the newer epoch where the target tells it, else 0.
    """

    epoch: int = 0


class LeaseLostError(StaleEpochError):
    """Say that another holder has the connector's lease."""


class DataLossError(ConnectError):
    """Say that planned records no longer exist and the policy is to fail."""


class MissingLibraryError(ConnectError):
    """Say which extra of connect-core brings a library that is not installed."""

    def __init__(self, library: str | None, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'connect-core[{extra}]'")


class ConfigError(ConnectError):
    """Refuse a setting; the message names the key, the value and the remedy."""

    def __init__(self, *args: object) -> None:
        """Take a message, or Connect's (name, value[, message]) triple."""
        if len(args) in (2, 3):
            name, value, *rest = args
            text = f"Invalid value {value} for configuration {name}"
            super().__init__(f"{text}: {rest[0]}" if rest and rest[0] is not None else text)
        else:
            super().__init__(*args)


class IllegalArgumentError(ConnectError, ValueError):
    """Refuse an argument, as Java's IllegalArgumentException."""


class NumberFormatError(IllegalArgumentError):
    """Refuse a text that is no number, as Java's NumberFormatException."""


class ClassCastError(ConnectError, TypeError):
    """Refuse a value of another class, as Java's ClassCastException."""


class IndexOutOfBoundsError(ConnectError, IndexError):
    """Refuse an index or group number, as Java's IndexOutOfBoundsException."""


class SerializationError(ConnectError):
    """Say that text or bytes cannot be converted, as Kafka's SerializationException."""


class NullValueError(ConnectError, TypeError):
    """Refuse a null, as Java's NullPointerException."""


class IllegalStateError(ConnectError, RuntimeError):
    """Refuse a call out of order, as Java's IllegalStateException."""


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
