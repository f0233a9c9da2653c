"""Content negotiation as JAX-RS does it: 415 for what is sent, 406 for what is wanted."""

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
    """Return whether a body of this type may be read; an unnamed type is not known to be wrong yet."""
    return content_type is None or _plain(content_type) in _ANSWERS


def accepts_json(accept: str | None) -> bool:
    """Return whether the caller takes JSON; weights are not looked at, as Jersey does not."""
    if accept is None or not accept.strip():
        return True
    return any(_plain(part) in _ANSWERS for part in accept.split(","))


def _plain(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


class ProducingRoute(GuardedRoute):
    """A route that answers JSON."""

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
    """A route that answers JSON and takes nothing else."""

    def _check(self, request: Request) -> None:
        content_type = request.headers.get("content-type")
        if content_type and "/" not in content_type:
            raise HTTPException(400, f"Content-Type {content_type} is none")
        if not is_json(content_type):
            raise HTTPException(415)
        super()._check(request)
