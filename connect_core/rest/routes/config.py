"""A connector's configuration: read, replace, patch."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import connectors
from connect_core.herder.connectors import ConnectorInfo
from connect_core.rest.access import Editor, Reader, ensure_allowed, ensure_settings_allowed
from connect_core.rest.answers import answer
from connect_core.rest.entities import Config, ConfigBody
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import request_body
from connect_core.rest.routes.connectors import created
from connect_core.rest.routes.parameters import Name

__all__ = ["get_config", "patch_config", "put_config", "router"]

router = APIRouter(prefix="/connectors/{connector}/config", route_class=ConnectRoute, tags=["connectors"])


@router.get("", summary="Configuration of a connector, with secrets hidden", response_model=dict[str, str | None])
def get_config(connector: Name, herder: Reader) -> Response:
    """Return the configuration."""
    return answer(connectors.get_config(herder, connector))


@router.put(
    "",
    summary="Replace a connector's configuration, or create it",
    response_model=ConnectorInfo,
    responses={201: {"model": ConnectorInfo, "description": "The connector is new"}},
    openapi_extra=request_body(Config),
)
def put_config(request: Request, connector: Name, herder: Editor, config: ConfigBody) -> Response:
    """Replace the configuration; a hidden value keeps the stored one."""
    ensure_settings_allowed(request, herder, connector, config)
    may_create = partial(ensure_allowed, request, "POST", connector)
    is_new, info = connectors.put_config(herder, connector, config, may_create)
    return created(request, info) if is_new else answer(info)


@router.patch(
    "",
    summary="Change some settings; null removes one (KIP-477)",
    response_model=ConnectorInfo,
    openapi_extra=request_body(Config),
)
def patch_config(request: Request, connector: Name, herder: Editor, patch: ConfigBody) -> Response:
    """Change some settings."""
    ensure_settings_allowed(request, herder, connector, patch)
    return answer(connectors.patch_config(herder, connector, patch))
