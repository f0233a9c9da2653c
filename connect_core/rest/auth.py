"""Authentication and authorization: fail-closed, for every path but ``/health``."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from connect_core.rest.answers import error_answer
from connect_core.rest.hosts import BadHost, host_of

__all__ = [
    "BAD_HOST",
    "AuthMiddleware",
    "Authorizer",
    "Caller",
    "LoopbackAuthorizer",
    "Method",
    "Service",
    "is_loopback",
]

Method = Literal["GET", "POST", "PUT", "DELETE"]
"""The kind of access to a connector: see, create, change, delete."""

BAD_HOST = "The header Host must contain one host, as HOST or HOST:PORT"
"""The response to a request whose host is not clear."""

FOREIGN = "Pages from another origin may not change anything"
"""The response to a request of another origin's page that would change something."""

_CONNECTOR = re.compile("(?:/v1)?/connectors/([^/]+)")
_OPEN = "/health"
_SAFE = ("GET", "HEAD", "OPTIONS")


class Caller(Protocol):
    """An authenticated user; an authorizer may keep more in it."""

    @property
    def name(self) -> str:
        """The name recorded in the audit."""


class Authorizer(Protocol):
    """Authenticates callers and decides what they may do, separately for every request."""

    challenge: str | None
    """The header ``WWW-Authenticate`` for an unauthenticated caller."""

    async def authenticate(self, request: Request) -> Caller | None:
        """Return the caller, or ``None`` if not authenticated."""

    def allows(self, caller: Any, method: Method, connector: str | None) -> bool:
        """Return whether the caller may do this; ``None``: on what belongs to no connector. May block."""

    def visible(self, caller: Any, connectors: Collection[str]) -> Collection[str]:
        """Return the connectors that the caller may see. May block."""

    def refusal(self, caller: Any, connector: str, settings: Mapping[str, str]) -> str | None:
        """Return why the caller may not give a connector these settings (``schedule…``), or ``None``. May block."""


@dataclass(frozen=True, slots=True)
class Service:
    """A caller with the rights of the service itself."""

    name: str = "rest"


class LoopbackAuthorizer:
    """Lets any user of this machine act as the service. Only for listeners on the loopback interface."""

    challenge: str | None = None

    async def authenticate(self, request: Request) -> Caller | None:
        """Accept callers on this machine whose ``Host`` is a loopback name: this rejects DNS rebinding by web pages."""
        peer = request.client.host if request.client else ""
        host = host_of(request.scope)
        return Service() if is_loopback(peer) and is_loopback(host) else None

    def allows(self, caller: Any, method: Method, connector: str | None) -> bool:
        """Allow everything."""
        return True

    def visible(self, caller: Any, connectors: Collection[str]) -> Collection[str]:
        """Show everything."""
        return connectors

    def refusal(self, caller: Any, connector: str, settings: Mapping[str, str]) -> str | None:
        """Refuse nothing."""
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback name or address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class AuthMiddleware:
    """Rejects unauthenticated requests, and changes by pages of another origin; runs before any route."""

    def __init__(self, app: ASGIApp, authorizer: Authorizer, origins: Collection[str] = ()) -> None:
        self._app = app
        self._authorizer = authorizer
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        try:
            host_of(scope)
        except BadHost:
            await self._keep(scope, await self._caller_of(scope), BAD_HOST)
            await error_answer(400, BAD_HOST)(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path != _OPEN:
            caller = await self._authorizer.authenticate(Request(scope, receive))
            if caller is None:
                await self._unknown()(scope, receive, send)
                return
            if scope["method"] not in _SAFE and self._is_foreign(Headers(scope=scope)):
                await self._keep(scope, caller, FOREIGN)
                await error_answer(403, FOREIGN)(scope, receive, send)
                return
            scope = {**scope, "state": {**scope.get("state", {}), "caller": caller}}
        await self._app(scope, receive, send)

    async def _caller_of(self, scope: Scope) -> Caller | None:
        """Return the caller of a request that is refused anyway, if its credentials are valid."""
        try:
            return await self._authorizer.authenticate(Request(scope))
        except BadHost:
            return None

    async def _keep(self, scope: Scope, caller: Caller | None, reason: str) -> None:
        if caller is not None:
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            named = _CONNECTOR.match(path)
            request = Request(scope)
            await request.app.state.refusals.keep(request, caller, named[1] if named else None, reason)

    def _unknown(self) -> Any:
        challenge = self._authorizer.challenge
        headers = {"WWW-Authenticate": challenge} if challenge else None
        return error_answer(401, "User cannot access the resource.", headers=headers)

    def _is_foreign(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None and origin in self._origins:
            return False
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return True
        return origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
