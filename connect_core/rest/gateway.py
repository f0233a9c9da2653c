"""The API on a separate address with a login: Basic credentials are exchanged for Airflow's token.

Every request is forwarded to the API mounted in Airflow, on behalf of the caller, so
that rights are checked in one place only. Only ``/health`` is open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import httpx
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from connect_core.rest.answers import error_answer
from connect_core.rest.auth import BAD_HOST
from connect_core.rest.entities import LARGEST_BODY
from connect_core.rest.hosts import BadHost, host_of

__all__ = ["Gateway"]

_MOUNT = "/connect"
_OPEN = "/health"
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Kafka Connect"'}
_TOKEN_SECONDS = 60.0
_MOST_TOKENS = 1000
_DROPPED = frozenset(
    {
        "authorization",
        "connection",
        "content-length",
        "cookie",
        "keep-alive",
        "set-cookie",
        "te",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that are not forwarded: those of the connection, and logins other than the caller's credentials."""


class _TooLarge(Exception):
    """Raised for a body that is larger than the API accepts."""


@dataclass(slots=True)
class Gateway:
    """An ASGI application that forwards to ``airflow_url``; caches tokens for a minute, never passwords."""

    airflow_url: str
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=120.0))
    _tokens: dict[str, tuple[str, float]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            host_of(scope)
            answer = await self._answer(request)
        except BadHost:
            answer = error_answer(400, BAD_HOST)
        except _TooLarge:
            answer = error_answer(413, f"The request body is larger than {LARGEST_BODY} bytes")
        except ClientDisconnect:
            return
        except httpx.TransportError as error:
            answer = error_answer(503, f"Airflow at {self.airflow_url} does not respond ({type(error).__name__})")
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        login: dict[str, str] = {}
        if request.scope["path"] != _OPEN:
            token = await self._token(request.headers.get("authorization", ""))
            if token is None:
                return error_answer(401, "User cannot access the resource.", headers=_CHALLENGE)
            login = {"authorization": f"Bearer {token}"}
        given = await self.client.send(self._forwarded(request, login), stream=True)
        kept = dict(_kept(given.headers.multi_items()))
        if kept.pop("content-encoding", None) is None and "content-length" in given.headers:
            kept["content-length"] = given.headers["content-length"]
        if "location" in kept:
            kept["location"] = kept["location"].replace(f"{request.url.netloc}{_MOUNT}", request.url.netloc, 1)
        if given.status_code == httpx.codes.UNAUTHORIZED:
            kept |= {name.lower(): value for name, value in _CHALLENGE.items()}
        return StreamingResponse(given.aiter_bytes(), given.status_code, kept, background=BackgroundTask(given.aclose))

    def _forwarded(self, request: Request, login: dict[str, str]) -> httpx.Request:
        raw = request.scope.get("raw_path") or request.scope["path"].encode()
        query = request.scope.get("query_string", b"")
        target = _MOUNT.encode() + raw + (b"?" + query if query else b"")
        # The body is streamed, as its sender is not authenticated yet: Airflow reads it, or refuses it unread.
        made = self.client.build_request(request.method, self.airflow_url, content=_streamed(request))
        made.headers = httpx.Headers({**dict(_kept(request.headers.items())), **login, **_framing(request)})
        # The path as it was sent: names of connectors must reach the API without normalization.
        made.extensions["target"] = httpx.URL(self.airflow_url).raw_path.rstrip(b"/") + target
        return made

    async def _token(self, authorization: str) -> str | None:
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return credentials.strip() or None
        user, password = _basic(credentials) if scheme.lower() == "basic" else ("", "")
        if not user:
            return None
        known = hashlib.sha256(authorization.encode()).hexdigest()
        token, until = self._tokens.get(known, ("", 0.0))
        if time.monotonic() < until:
            return token
        body = {"username": user, "password": password}
        answer = await self.client.post(f"{self.airflow_url.rstrip('/')}/auth/token", json=body)
        if answer.is_error:
            return None
        if len(self._tokens) >= _MOST_TOKENS:
            self._tokens.clear()
        self._tokens[known] = str(answer.json()["access_token"]), time.monotonic() + _TOKEN_SECONDS
        return self._tokens[known][0]


def _framing(request: Request) -> dict[str, str]:
    length = request.headers.get("content-length")
    if length is None and "transfer-encoding" in request.headers:
        return {"transfer-encoding": "chunked"}
    return {"content-length": length or "0"}


async def _streamed(request: Request) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_BODY:
            raise _TooLarge
        yield chunk


def _kept(headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return ((name, value) for name, value in headers if name.lower() not in _DROPPED)


def _basic(credentials: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, password
