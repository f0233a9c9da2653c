"""Who calls, and what they may do: fail-closed, for every path but ``/health``."""

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
"""What is done to a connector: see, create, change, delete."""

BAD_HOST = "The header Host must name one host, as HOST or HOST:PORT"
"""What is answered to a request whose host cannot be told."""

FOREIGN = "Pages of another origin may not change anything"
"""What is answered to a request that changes something for a page of another origin."""

_CONNECTOR = re.compile("(?:/v1)?/connectors/([^/]+)")
_OPEN = "/health"
_SAFE = ("GET", "HEAD", "OPTIONS")


class Caller(Protocol):
    """Somebody who is known; an authorizer keeps what else it needs in it."""

    @property
    def name(self) -> str:
        """The name the audit shows."""


class Authorizer(Protocol):
    """Decides who calls and what they may do; asked again for every request."""

    challenge: str | None
    """What ``WWW-Authenticate`` says to a caller who is not known."""

    async def authenticate(self, request: Request) -> Caller | None:
        """Return who calls, or nothing for somebody who is not known."""

    def allows(self, caller: Any, method: Method, connector: str | None) -> bool:
        """Return whether the caller may do this; without a connector: to what belongs to none. May block."""

    def visible(self, caller: Any, connectors: Collection[str]) -> Collection[str]:
        """Return those of the connectors the caller may see. May block."""

    def refusal(self, caller: Any, connector: str, settings: Mapping[str, str]) -> str | None:
        """Return why the caller may not give a connector these settings (``schedule…``), if so. May block."""


@dataclass(frozen=True, slots=True)
class Service:
    """The caller who has the rights of the service itself."""

    name: str = "rest"


class LoopbackAuthorizer:
    """Lets whoever is on this machine act as the service. For listeners on the loopback interface only."""

    challenge: str | None = None

    async def authenticate(self, request: Request) -> Caller | None:
        """Know callers on this machine who name it in ``Host``: a rebound name of a web page is none."""
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
    """Return whether a host is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class AuthMiddleware:
    """Lets nobody unknown in, nor a page of another origin change anything; before any route."""

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
        """Return who sent a request that is refused anyway, where credentials tell it."""
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
