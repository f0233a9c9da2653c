"""REST catalogs with time limits: pyiceberg itself waits forever for a response."""

from __future__ import annotations

from functools import partial

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.auth import AuthManager
from requests import Session

from connect_core.connectors.iceberg.catalog_properties import TIMEOUTS

__all__ = ["TimedRestCatalog"]


class TimedRestCatalog(RestCatalog):  # type: ignore[misc]
    """A RestCatalog in which each request has a time limit, including those for tokens and for its configuration.

    Its methods raise requests.Timeout, an OSError, when no response comes.
    """

    def _create_session(self) -> Session:
        return self._timed(super()._create_session())

    def _create_legacy_oauth2_auth_manager(self, session: Session) -> AuthManager:
        # The manager requests a token at once, with this session.
        return super()._create_legacy_oauth2_auth_manager(self._timed(session))

    def _timed(self, session: Session) -> Session:
        connect, read = (int(self.properties.get(key, millis)) / 1000 for key, millis in TIMEOUTS.items())
        session.request = partial(session.request, timeout=(connect, read))  # type: ignore[method-assign]
        return session
