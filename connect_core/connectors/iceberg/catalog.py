"""Catalogs, and what they raise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyiceberg import exceptions
from pyiceberg.catalog import AVAILABLE_CATALOGS, Catalog, CatalogType
from sqlalchemy.exc import DBAPIError, OperationalError

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.iceberg.catalog_properties import catalog_properties
from connect_core.connectors.iceberg.config import Settings
from connect_core.errors import ConnectError, RetriableError, UnclearOutcomeError

__all__ = ["catalog_errors", "open_catalog"]

_CONFLICTS: tuple[type[Exception], ...] = (exceptions.CommitFailedException, exceptions.TableAlreadyExistsError)
_PASSING: tuple[type[Exception], ...] = (
    exceptions.ServerError,
    exceptions.ServiceUnavailableError,
    exceptions.TooManyRequestsError,
    exceptions.WaitingForLockException,
    exceptions.AuthorizationExpiredError,
    OperationalError,
    OSError,
)
_LASTING: tuple[type[Exception], ...] = (
    DBAPIError,
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)


def open_catalog(settings: Settings, limits: WorkerLimits) -> Catalog:
    """Return the catalog of a configuration. Raises ConfigError, RetriableError where it does not answer."""
    properties = catalog_properties(settings.properties, limits)
    # Not pyiceberg's load_catalog: it would add what a file or the environment of the worker says of the name.
    load = AVAILABLE_CATALOGS[CatalogType(properties["type"])]
    with catalog_errors(f"the catalog {settings.catalog}"):
        return load(settings.catalog, properties)


@contextmanager
def catalog_errors(what: str) -> Iterator[None]:
    """Raise what a catalog or its files raise as errors of this project; a conflict is left to the caller."""
    try:
        yield
    except _CONFLICTS:
        raise
    except exceptions.CommitStateUnknownException as error:
        raise UnclearOutcomeError(f"{what}: it is not known whether the commit took place: {error}") from error
    except _PASSING as error:
        raise RetriableError(f"{what}: {_first_line(error)}") from error
    except _LASTING as error:
        raise ConnectError(f"{what}: {type(error).__name__}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    """Return the error without the statement and parameters that SQLAlchemy adds."""
    text = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]
