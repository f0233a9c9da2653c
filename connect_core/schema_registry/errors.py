"""Errors of a schema registry: rejected requests, and temporary failures."""

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
"""Statuses that concern the requested schema; all others concern the login or the address."""
_READ_ONLY = 42205
"""The registry's own code for a subject, or all of them, to which nothing may be registered now."""
_SMALLEST_CODE = 10_000
"""The registry's own codes have five digits; a 404 without one comes from a server without such a path."""


class SchemaRegistryError(ConnectError):
    """Raised when a registry rejects a request: ``status`` is HTTP's, ``error_code`` the registry's own, or 0."""

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
    """Raised when the registry rejects all such requests: login, address or mode are wrong, not a record."""


class RegistrySettingError(ConfigError, ServiceError):
    """Raised when the registry cannot be called with these settings, which is detected at the first call."""


class UnavailableRegistryError(SchemaRegistryError, ServiceError, RetriableError):
    """Raised when the registry is temporarily unavailable: ``errors.retry.timeout`` and a run's retries apply."""


def registry_error(message: str, status: int, error_code: int) -> SchemaRegistryError:
    """Return the error for an HTTP status: retriable for 408, 429 and 5xx; about a record only if about its schema."""
    if _is_transient(status):
        return UnavailableRegistryError(message, status, error_code)
    is_no_path = status == 404 and error_code < _SMALLEST_CODE
    is_of_schema = status in _OF_A_SCHEMA and not is_no_path and error_code != _READ_ONLY
    return (SchemaRegistryError if is_of_schema else RegistryRefusalError)(message, status, error_code)


def _is_transient(status: int) -> bool:
    return status in (_REQUEST_TIMEOUT, _TOO_MANY_REQUESTS) or status >= _SERVER_ERROR
