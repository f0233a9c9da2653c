"""Plugins: their list, their settings, and validation of configurations."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.configs import ConfigInfos, ConfigKeyInfo
from connect_core.herder import plugins
from connect_core.herder.plugins import PluginInfo
from connect_core.java.strings import trim
from connect_core.rest.access import Reader, ensure_allowed
from connect_core.rest.answers import answer
from connect_core.rest.entities import Config, ConfigBody
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import query_parameters, request_body
from connect_core.rest.routes.parameters import is_true

__all__ = ["get_plugin_config", "list_plugins", "router", "validate_config"]

router = APIRouter(prefix="/connector-plugins", route_class=ConnectRoute, tags=["plugins"])


@router.get(
    "",
    summary="Installed plugins",
    response_model=list[PluginInfo],
    openapi_extra={"parameters": query_parameters(connectorsOnly="true or false")},
)
def list_plugins(request: Request, herder: Reader) -> Response:
    """Return connectors, or with ``connectorsOnly=false`` all plugins."""
    return answer(plugins.list_plugins(connectors_only=is_true(request, "connectorsOnly", default=True)))


@router.get(
    "/{plugin}/config",
    summary="Definition of a plugin's settings (KIP-769)",
    response_model=list[ConfigKeyInfo],
    openapi_extra={"parameters": query_parameters(version="of the plugin")},
)
def get_plugin_config(request: Request, plugin: str, herder: Reader) -> Response:
    """Return Connect's list of ``ConfigKeyInfo``."""
    return answer(plugins.get_plugin_config(plugin, request.query_params.get("version")))


@router.put(
    "/{plugin}/config/validate",
    summary="Validate a configuration without changing anything",
    response_model=ConfigInfos,
    openapi_extra=request_body(Config),
)
def validate_config(request: Request, plugin: str, config: ConfigBody) -> Response:
    """Return Connect's ``ConfigInfos``; a configuration without errors is also tried on the systems it names.

    Requires the right to change the named connector, from which hidden values are taken.
    """
    herder = ensure_allowed(request, "PUT", trim(config.get("name") or ""))
    return answer(plugins.validate_config(herder, plugin, config).to_json())
