"""Reads request paths as Jetty and Jersey do, before routing."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["AddressMiddleware", "Refused", "plain_path"]

_SEPARATOR = re.compile(r"%2f|%5c", re.IGNORECASE)
_PERCENT = re.compile(r"%25")
_DOT = re.compile(r"%2e", re.IGNORECASE)
_ILLEGAL = re.compile(r"[^!$%&'()*+,\-./0-9:;=@A-Z_a-z~]")
_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_PARAMETER = re.compile(r";[^/]*")
_WITH_PAGE = ("GET", "HEAD", "POST")


class Refused(ValueError):
    """Raised for an ambiguous path, with the reason."""


def plain_path(raw: str) -> str:
    """Return the decoded path without matrix parameters (``;v=1``). Raise Refused.

    A path that different parsers may read differently is refused, as
    Jetty's default compliance does.
    """
    for pattern, reason in (
        (_ILLEGAL, "Illegal Path Character"),
        (_ESCAPE, "Bad URI encoding"),
        (_SEPARATOR, "Ambiguous URI path separator"),
        (_PERCENT, "Ambiguous URI path encoding"),
    ):
        if pattern.search(raw):
            raise Refused(reason)
    if "//" in raw:
        raise Refused("Ambiguous URI empty segment")
    if raw.startswith("/..") or any(_is_hidden_dots(segment) for segment in raw.split("/")):
        raise Refused("Ambiguous URI path segment")
    try:
        path = unquote_to_bytes(_PARAMETER.sub("", raw)).decode()
    except UnicodeDecodeError:
        raise Refused("Bad URI encoding") from None
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise Refused("Illegal character in path")
    return path


def _is_hidden_dots(segment: str) -> bool:
    """Return whether one parser may read a segment as dots and another as a name."""
    plain = segment.partition(";")[0]
    return segment not in (".", "..") and _DOT.sub(".", plain) in (".", "..")


class AddressMiddleware:
    """Refuses ambiguous paths, drops matrix parameters and a trailing slash; serves HEAD as GET without a body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            path = plain_path(_raw_path(scope))
        except Refused as refusal:
            await _refusal(scope["method"], str(refusal))(scope, receive, send)
            return
        root = scope.get("root_path", "")
        if path.endswith("/") and len(path) > len(root) + 1:
            path = path[:-1]
        plain = {**scope, "path": path, "raw_path": quote(path).encode()}
        if scope["method"] == "HEAD":
            await self._app({**plain, "method": "GET"}, receive, _without_body(send))
        else:
            await self._app(plain, receive, send)


def _raw_path(scope: Scope) -> str:
    raw = scope.get("raw_path")
    return quote(scope["path"]) if raw is None else raw.decode("latin-1").partition("?")[0]


def _refusal(method: str, reason: str) -> Response:
    if method not in _WITH_PAGE:
        return Response(b"", 400)
    return HTMLResponse(f"<html><head><title>Error 400</title></head><body><h2>{reason}</h2></body></html>\n", 400)


def _without_body(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        elif message["type"] == "http.response.start":
            headers = Headers(raw=message["headers"])
            message = {**message, "headers": headers.raw}
        await send(message)

    return sender
