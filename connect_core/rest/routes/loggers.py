"""Log levels of the process that serves the request."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.errors import BadRequestError
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer, empty
from connect_core.rest.entities import ConfigBody, SetLevel
from connect_core.rest.loggers import LoggerLevel, Loggers
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import query_parameters, request_body

__all__ = ["get_logger", "list_loggers", "router", "set_level"]

router = APIRouter(prefix="/admin/loggers", route_class=ConnectRoute, tags=["loggers"])

_LOGGERS = Loggers()


@router.get("", summary="Levels of all loggers", response_model=dict[str, LoggerLevel])
def list_loggers(herder: Reader) -> Response:
    """Return the loggers by name."""
    return answer(_LOGGERS.show_all())


@router.get("/{logger}", summary="Level of a logger", response_model=LoggerLevel)
def get_logger(logger: str, herder: Reader) -> Response:
    """Return the logger's level and when it was set here."""
    return answer(_LOGGERS.show(logger))


@router.put(
    "/{logger}",
    summary="Set the level of a logger and its children",
    response_model=list[str],
    openapi_extra={**request_body(SetLevel), "parameters": query_parameters(scope="worker or cluster")},
)
def set_level(request: Request, logger: str, herder: Editor, levels: ConfigBody) -> Response:
    """Set a level; with ``scope=cluster`` the response is empty."""
    level: Any = levels.get("level")
    if level is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    changed = _LOGGERS.set_level(logger, level)
    return empty() if request.query_params.get("scope", "").lower() == "cluster" else answer(changed)
