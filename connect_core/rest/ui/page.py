"""Serves the page's files under ``/ui/`` to authenticated callers; a browser that opens ``/`` is redirected there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from connect_core.rest.answers import error_answer

__all__ = ["PageMiddleware"]

_FOLDER = Path(__file__).parent / "static"
_PAGE = "/ui/"
_READING = ("GET", "HEAD")
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        # Everything from this origin; no inline script or style; framed only by Airflow of the same origin.
        "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "object-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        # Revalidated each time by ETag, so that page and API always have the same version.
        "Cache-Control": "no-cache",
    }
)


class PageMiddleware:
    """Serves the page and passes on all other requests.

    A middleware and not a route, because the trailing slash is dropped before
    routing, and the page's relative addresses, which must also work under
    Airflow's prefix, depend on it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._files = StaticFiles(directory=_FOLDER, html=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] not in _READING:
            await self._app(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == "/ui" or (path in ("", "/") and _is_browser(Headers(scope=scope))):
            # Relative, as a proxy may serve the API under an unknown prefix.
            await RedirectResponse("ui/", 307, {"Vary": "Accept"})(scope, receive, send)
        elif path.startswith(_PAGE):
            answer = await self._file(path.removeprefix(_PAGE), scope)
            answer.headers.update(_HEADERS)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _file(self, path: str, scope: Scope) -> Response:
        try:
            return await self._files.get_response(path or ".", scope)
        except HTTPException as error:
            return error_answer(error.status_code, f"HTTP {error.status_code} {error.detail}")


def _is_browser(headers: Headers) -> bool:
    """Return whether the client accepts HTML and not JSON, unlike Connect's clients."""
    accepted = headers.get("accept", "")
    return "text/html" in accepted and "application/json" not in accepted
