"""Mapping of exceptions to HTTP: one table, and the only place that catches all exceptions."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match

from connect_core.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConnectError,
    DataError,
    IllegalWorkerStateError,
    NotFoundError,
    OvertakenError,
    RetriableError,
)
from connect_core.rest.answers import error_answer

__all__ = ["STATUSES", "ForbiddenError", "GuardedRoute", "UnsupportedTypeError", "install_handlers", "status_of"]

_LOG = logging.getLogger(__name__)
_REASONS = {404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 415: "Unsupported Media Type"}


class ForbiddenError(ConnectError):
    """The caller has no right to an act, or the worker's settings turn it off."""

    def __init__(self, message: str, connector: str | None = None) -> None:
        """Take the response's message, and the connector it is about."""
        super().__init__(message)
        self.connector = connector


class UnsupportedTypeError(ConnectError):
    """The Content-Type of a body is not JSON."""

    def __init__(self) -> None:
        """Take Connect's message."""
        super().__init__("HTTP 415 Unsupported Media Type")


STATUSES: Mapping[type[ConnectError], int] = MappingProxyType(
    {
        BadRequestError: 400,
        ForbiddenError: 403,
        NotFoundError: 404,
        AlreadyExistsError: 409,
        IllegalWorkerStateError: 409,
        OvertakenError: 409,
        UnsupportedTypeError: 415,
        RetriableError: 503,
        ConnectError: 500,
    }
)
"""Status by exception; the nearest base class applies. Connect: ``ConnectExceptionMapper``."""


def status_of(error: ConnectError) -> int:
    """Return the HTTP status of an exception."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


class GuardedRoute(APIRoute):
    """A route that logs unexpected exceptions and responds with 500."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the guarded handler."""
        return _guarded(super().get_route_handler())


def _guarded(
    handle: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Coroutine[Any, Any, Response]]:

    async def guard(request: Request) -> Response:
        try:
            return await handle(request)
        except (ConnectError, HTTPException, RequestValidationError):
            raise
        except Exception as error:
            _LOG.exception("%s %s failed", request.method, request.url.path)
            return error_answer(500, f"{type(error).__name__}: see the log of the REST API for details")

    return guard


def install_handlers(app: FastAPI) -> None:
    """Make the application handle exceptions as Connect does."""
    app.add_exception_handler(ConnectError, _on_connect_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_bad_parameter)


async def _on_connect_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ConnectError)
    status = status_of(error)
    # An error in a body is the client's fault, whatever status Connect returns for it.
    if status >= 500 and not isinstance(error, DataError):
        _LOG.warning("%s %s: %s", request.method, request.url.path, error)
    if isinstance(error, ForbiddenError):
        connector = error.connector or request.path_params.get("connector")
        await request.app.state.refusals.keep(request, request.state.caller, connector, str(error))
    return error_answer(status, str(error))


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    if status not in _REASONS:
        return error_answer(status, error.detail, headers=error.headers)
    allowed = _allowed_methods(request) if status == 405 else []
    if allowed and request.method == "OPTIONS":
        return PlainTextResponse(", ".join(allowed), headers={"Allow": ",".join(allowed)})
    headers = {"Allow": ",".join(allowed)} if allowed else None
    return error_answer(status, f"HTTP {status} {_REASONS[status]}", headers=headers, is_typed=False)


async def _on_bad_parameter(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
    return error_answer(400, found)


def _allowed_methods(request: Request) -> list[str]:
    methods: set[str] = set()
    for route in request.app.router.routes:
        match, _ = route.matches(request.scope)
        if match is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    if "GET" in methods:
        methods.add("HEAD")
    return [*sorted(methods - {"OPTIONS"}), "OPTIONS"] if methods else []
