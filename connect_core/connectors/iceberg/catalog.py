"""Opens catalogs, and translates their errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pyiceberg import exceptions
from pyiceberg.catalog import AVAILABLE_CATALOGS, Catalog, CatalogType
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.iceberg.catalog_properties import catalog_properties
from connect_core.connectors.iceberg.config import CREATE_PROPERTIES, Settings
from connect_core.connectors.iceberg.foreign_properties import ensure_harmless
from connect_core.connectors.iceberg.guarded_catalog import GuardedRestCatalog, GuardedSqlCatalog, guarded
from connect_core.connectors.iceberg.sql_address import engine_url
from connect_core.connectors.lake.routing import TableName
from connect_core.errors import ConnectError, RetriableError, UnclearOutcomeError

__all__ = ["catalog_errors", "create_namespaces", "open_catalog"]

_TRIES = 3
_PAUSE = 0.1
_CONFLICTS: tuple[type[Exception], ...] = (exceptions.CommitFailedException, exceptions.TableAlreadyExistsError)
_PASSING: tuple[type[Exception], ...] = (
    exceptions.ServerError,
    exceptions.ServiceUnavailableError,
    exceptions.TooManyRequestsError,
    exceptions.WaitingForLockException,
    exceptions.AuthorizationExpiredError,
    OperationalError,
    # An SQL catalog checks, then inserts: of two tasks that create its tables, or a name in them, one is refused.
    IntegrityError,
    OSError,
)
_LASTING: tuple[type[Exception], ...] = (
    DBAPIError,
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)


def open_catalog(settings: Settings, limits: WorkerLimits) -> Catalog:
    """Return the catalog of a configuration. Raises ConfigError, RetriableError if it does not respond."""
    properties = catalog_properties(settings.properties, limits)
    ensure_harmless(CREATE_PROPERTIES, settings.create_properties, limits)
    kind = CatalogType(properties["type"])
    with catalog_errors(f"the catalog {settings.catalog}"):
        # Not pyiceberg's load_catalog: it would add settings for this name from a file or the environment of the
        # worker.
        if kind is CatalogType.REST:
            return guarded(GuardedRestCatalog, limits)(settings.catalog, **properties)
        if kind is CatalogType.SQL:
            return _sql_catalog(settings.catalog, properties, limits)
        opened = AVAILABLE_CATALOGS[kind](settings.catalog, properties)
        # pyiceberg imports the class, with the client it needs, only then.
        opened.__class__ = guarded(type(opened), limits)
        return opened


def _sql_catalog(name: str, properties: Mapping[str, Any], limits: WorkerLimits) -> Catalog:
    kind, url = guarded(GuardedSqlCatalog, limits), engine_url(properties["uri"], limits)
    for _ in range(_TRIES):
        # pyiceberg checks for its tables, then creates them: only one of several tasks can succeed.
        with suppress(IntegrityError, ProgrammingError):
            return kind(name, **{**properties, "uri": url})
        time.sleep(_PAUSE)
    return kind(name, **{**properties, "uri": url})


def create_namespaces(catalog: Catalog, table: TableName) -> None:
    """Create the namespaces of a table, if they are absent."""
    for depth in range(1, len(table)):
        with suppress(IntegrityError):  # Another task has created it since pyiceberg's check.
            catalog.create_namespace_if_not_exists(table[:depth])


@contextmanager
def catalog_errors(what: str) -> Iterator[None]:
    """Raise a catalog's or its files' errors as errors of this project; a conflict is left to the caller."""
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
