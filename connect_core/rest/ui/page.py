"""The page's files under ``/ui/``, for whoever the API knows; a browser that asks for ``/`` is sent there."""

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
        # Everything from here; neither script nor style in the markup; framed by Airflow of the same origin only.
        "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "object-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        # Asked again each time by its ETag, so that page and API never differ in version.
        "Cache-Control": "no-cache",
    }
)


class PageMiddleware:
    """Serves the page and passes on what is not its own.

    A middleware and no route, because only here the last slash is still known,
    from which the page's relative addresses are counted: they must be right
    under Airflow's prefix too.
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
            # Relative: a proxy may serve us under a prefix we do not know.
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
    """Return whether a page is wanted rather than JSON, which Connect's clients get."""
    accepted = headers.get("accept", "")
    return "text/html" in accepted and "application/json" not in accepted
