"""Endpoints that Connect's workers call among themselves: always refused, as no caller here has the signature."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from connect_core.errors import BadRequestError, DataError
from connect_core.rest.access import Editor
from connect_core.rest.entities import Body
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name

__all__ = ["fence", "put_task_configs", "router"]

router = APIRouter(prefix="/connectors/{connector}", route_class=ConnectRoute, include_in_schema=False)


@router.post("/tasks")
def put_task_configs(connector: Name, herder: Editor, body: Body) -> Response:
    """Refuse, as task configurations are made by plans."""
    if not body:
        raise DataError("The request body is empty")
    raise BadRequestError("Internal request missing required signature")


@router.put("/fence")
def fence(connector: Name, herder: Editor) -> Response:
    """Refuse, as fencing is done by plans."""
    raise BadRequestError("Internal request missing required signature")
