"""Content negotiation as in JAX-RS: 415 for an unsupported Content-Type, 406 for an unsupported Accept."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from connect_core.rest.errors import GuardedRoute

__all__ = ["ConnectRoute", "ProducingRoute", "accepts_json", "is_json"]

_ANSWERS = frozenset({"*/*", "*", "application/*", "*/json", "application/json"})


def is_json(content_type: str | None) -> bool:
    """Return whether a body of this Content-Type may be JSON; a missing one is checked later, with the body."""
    return content_type is None or _plain(content_type) in _ANSWERS


def accepts_json(accept: str | None) -> bool:
    """Return whether the caller accepts JSON; weights are ignored, as in Jersey."""
    if accept is None or not accept.strip():
        return True
    return any(_plain(part) in _ANSWERS for part in accept.split(","))


def _plain(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


class ProducingRoute(GuardedRoute):
    """A route that returns JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler behind the negotiation."""
        handle = super().get_route_handler()

        async def negotiated(request: Request) -> Response:
            self._check(request)
            return await handle(request)

        return negotiated

    def _check(self, request: Request) -> None:
        if not accepts_json(request.headers.get("accept")):
            raise HTTPException(406)


class ConnectRoute(ProducingRoute):
    """A route that returns JSON and accepts only JSON."""

    def _check(self, request: Request) -> None:
        content_type = request.headers.get("content-type")
        if content_type and "/" not in content_type:
            raise HTTPException(400, f"Content-Type {content_type} is invalid")
        if not is_json(content_type):
            raise HTTPException(415)
        super()._check(request)
