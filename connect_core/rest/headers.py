"""Response headers from the worker's settings ``response.http.headers.config`` and ``access.control.*``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from connect_core.errors import ConfigError

__all__ = ["HeaderRule", "HeadersMiddleware", "parse_rules"]

_KEY = "response.http.headers.config"
_SENDABLE = "Content-Type, Accept"
_ACTIONS = ("set", "add", "setDate", "addDate")


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """One header: ``set`` replaces the response's, ``add`` adds another; with ``Date`` the value is the time."""

    action: str
    name: str
    value: str

    def apply(self, headers: MutableHeaders) -> None:
        """Put the header into a response."""
        value = formatdate(usegmt=True) if self.action.endswith("Date") else self.value
        if self.action.startswith("add"):
            headers.append(self.name, value)
        else:
            headers[self.name] = value


def parse_rules(text: str | None) -> tuple[HeaderRule, ...]:
    """Return the rules of ``[action] [name]: [value], …``; quoted ones may contain commas. Raise ConfigError."""
    return tuple(_rule(part) for part in _parts(text or ""))


def _parts(text: str) -> list[str]:
    parts, is_quoted = [""], False
    for character in text:
        if character == '"':
            is_quoted = not is_quoted
        elif character == "," and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    if is_quoted:
        raise ConfigError(_KEY, text, "a quotation mark is not closed")
    return [part.strip() for part in parts if part.strip()]


def _rule(part: str) -> HeaderRule:
    action, _, rest = part.partition(" ")
    name, colon, value = rest.partition(":")
    if action not in _ACTIONS or not colon or not name.strip() or any(ord(one) < 32 for one in rest):
        raise ConfigError(_KEY, part, f"write an action ({', '.join(_ACTIONS)}), a name, a colon and a value")
    return HeaderRule(action, name.strip(), value.strip())


class HeadersMiddleware:
    """Adds the headers of the rules, and lets pages of the allowed origins read responses (CORS).

    ``origins`` and ``methods`` are those of ``access.control.allow.origin`` and ``.methods``:
    ``*`` allows every origin to read, but none to use a cookie.
    """

    def __init__(
        self, app: ASGIApp, rules: Sequence[HeaderRule] = (), origins: Sequence[str] = (), methods: Sequence[str] = ()
    ) -> None:
        self._app = app
        self._rules = rules
        self._origins = frozenset(origins)
        self._methods = ", ".join(methods or ("GET", "POST", "HEAD"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a browser's preflight request is answered here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = MutableHeaders(scope=scope)
        allowed = self._allowed(given.get("origin"))
        if allowed and scope["method"] == "OPTIONS" and "access-control-request-method" in given:
            asked = {"Access-Control-Allow-Methods": self._methods, "Access-Control-Allow-Headers": _SENDABLE}
            await _respond(send, {**allowed, **asked})
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message["headers"]))
                headers.update(allowed)
                for rule in self._rules:
                    rule.apply(headers)
                message = {**message, "headers": headers.raw}
            await send(message)

        await self._app(scope, receive, add)

    def _allowed(self, origin: str | None) -> Mapping[str, str]:
        if origin is None or not self._origins & {origin, "*"}:
            return {}
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}


async def _respond(send: Send, headers: Mapping[str, str]) -> None:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    await send({"type": "http.response.body", "body": b""})
