"""What a schema registry refuses, and what it cannot answer now."""

from __future__ import annotations

from connect_core.errors import ConfigError, ConnectError, RetriableError, ServiceError

__all__ = [
    "RegistryRefusalError",
    "RegistrySettingError",
    "SchemaRegistryError",
    "UnavailableRegistryError",
    "registry_error",
]

_TOO_MANY_REQUESTS, _REQUEST_TIMEOUT, _SERVER_ERROR = 429, 408, 500
_OF_A_SCHEMA = frozenset({404, 409, 422})
"""Statuses that are about the schema asked for; all others are about the login or the address."""
_SMALLEST_CODE = 10_000
"""The registry's own codes have five digits; without one, a 404 is that of a server without such a path."""


class SchemaRegistryError(ConnectError):
    """Say what a registry refuses: ``status`` is HTTP's, ``error_code`` the registry's own; 0 where there is none."""

    status: int = 0
    error_code: int = 0

    def __init__(self, message: str, status: int = 0, error_code: int = 0) -> None:
        super().__init__(message)
        self.status, self.error_code = status, error_code

    @property
    def is_missing(self) -> bool:
        """Whether the registry has no such schema, subject or version."""
        return self.status == 404


class RegistryRefusalError(SchemaRegistryError, ServiceError):
    """Say that the registry answers no question like this one: the login or the address is wrong, not a record."""


class RegistrySettingError(ConfigError, ServiceError):
    """Say that the registry cannot be called with these settings, which is seen at the first call."""


class UnavailableRegistryError(SchemaRegistryError, ServiceError, RetriableError):
    """Say that the registry cannot answer now: ``errors.retry.timeout`` and a run's retries ask it again."""


def registry_error(message: str, status: int, error_code: int) -> SchemaRegistryError:
    """Return the error for an HTTP status: retriable for 408, 429 and 5xx; of a record only if of its schema."""
    if _is_passing(status):
        return UnavailableRegistryError(message, status, error_code)
    is_of_schema = status in _OF_A_SCHEMA and (status != 404 or error_code >= _SMALLEST_CODE)
    return (SchemaRegistryError if is_of_schema else RegistryRefusalError)(message, status, error_code)


def _is_passing(status: int) -> bool:
    return status in (_REQUEST_TIMEOUT, _TOO_MANY_REQUESTS) or status >= _SERVER_ERROR
