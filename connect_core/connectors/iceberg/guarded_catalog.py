"""Catalogs that do not trust what their servers answer, or what tables say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.auth import AuthManager
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.io import FileIO
from pyiceberg.table import Table
from requests import Session

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.iceberg.catalog_properties import (
    PREFIX,
    TIMEOUTS,
    ensure_allowed_file,
    ensure_allowed_location,
)
from connect_core.connectors.iceberg.foreign_properties import ensure_harmless

__all__ = ["GuardedRestCatalog", "GuardedSqlCatalog", "guarded"]


class _Guarded(Catalog):  # type: ignore[misc]
    """Checks properties before pyiceberg makes a FileIO of them: it would import any class they name."""

    limits = WorkerLimits()

    def _load_file_io(self, properties: Mapping[str, Any] | None = None, location: str | None = None) -> FileIO:
        given = properties or {}
        valid = {**self.properties, **given}
        ensure_harmless(PREFIX, valid, self.limits)
        if location:
            ensure_allowed_file(location, valid, self.limits)
        return _bounded_files(super()._load_file_io(given, location), valid, self.limits)


class GuardedSqlCatalog(_Guarded, SqlCatalog):  # type: ignore[misc]
    """A SqlCatalog whose rows name no file of this machine that is not allowed."""

    def _convert_orm_to_iceberg(self, orm_table: IcebergTables) -> Table:
        ensure_allowed_location(str(orm_table.metadata_location), self.limits)
        return super()._convert_orm_to_iceberg(orm_table)


class GuardedRestCatalog(_Guarded, RestCatalog):  # type: ignore[misc]
    """A RestCatalog in which each request has a time limit, including those for tokens and for its configuration.

    Its methods raise requests.Timeout, an OSError, when no response comes, and requests.TooManyRedirects,
    another, for a response that sends on to another address: that one would be called unchecked.
    """

    def _fetch_config(self) -> None:
        super()._fetch_config()
        # Before the next session: pyiceberg would import the class that ``auth`` names.
        ensure_harmless(PREFIX, self.properties, self.limits)

    def _create_session(self) -> Session:
        return self._bounded(super()._create_session())

    def _create_legacy_oauth2_auth_manager(self, session: Session) -> AuthManager:
        # The manager requests a token at once, with this session.
        return super()._create_legacy_oauth2_auth_manager(self._bounded(session))

    def _bounded(self, session: Session) -> Session:
        connect, read = (int(self.properties.get(key, millis)) / 1000 for key, millis in TIMEOUTS.items())
        session.request = partial(session.request, timeout=(connect, read))  # type: ignore[method-assign]
        session.max_redirects = 0
        return session


def _bounded_files(files: FileIO, properties: Mapping[str, Any], limits: WorkerLimits) -> FileIO:
    """Let files open only what the worker allows: metadata name manifests, and these name data, wherever they are."""

    def bounded(act: Callable[[Any], Any], place: Any) -> Any:
        ensure_allowed_file(str(getattr(place, "location", place)), properties, limits)
        return act(place)

    for name in ("new_input", "new_output", "delete"):
        setattr(files, name, partial(bounded, getattr(files, name)))
    return files


def guarded(kind: type[Catalog], limits: WorkerLimits) -> type[Catalog]:
    """Return the class of catalogs with a worker's limits."""
    bases = (kind,) if issubclass(kind, _Guarded) else (_Guarded, kind)
    return type(kind.__name__, bases, {"limits": limits})
