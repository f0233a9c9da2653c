"""What a schema registry refuses, and what it cannot answer now."""

from __future__ import annotations

from connect_core.errors import ConnectError, RetriableError

__all__ = ["SchemaRegistryError", "UnavailableRegistryError", "registry_error"]

_TOO_MANY_REQUESTS, _REQUEST_TIMEOUT, _SERVER_ERROR = 429, 408, 500


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


class UnavailableRegistryError(SchemaRegistryError, RetriableError):
    """Say that the registry cannot answer now: ``errors.retry.timeout`` and a run's retries ask it again."""


def registry_error(message: str, status: int, error_code: int) -> SchemaRegistryError:
    """Return the error for an HTTP status: retriable for 408, 429 and 5xx."""
    kind = UnavailableRegistryError if _is_passing(status) else SchemaRegistryError
    return kind(message, status, error_code)


def _is_passing(status: int) -> bool:
    return status in (_REQUEST_TIMEOUT, _TOO_MANY_REQUESTS) or status >= _SERVER_ERROR
