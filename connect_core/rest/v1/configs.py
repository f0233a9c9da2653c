"""The configurations a connector has had."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from connect_core.herder import history
from connect_core.rest.access import Reader
from connect_core.rest.answers import answer
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.parameters import Limit

__all__ = ["list_versions", "router"]

router = APIRouter(prefix="/v1/connectors/{connector}/config", route_class=ConnectRoute, tags=["beyond Connect"])


@router.get("/history", summary="Configurations of a connector, with diffs", response_model=history.ConfigVersionList)
def list_versions(connector: Name, herder: Reader, limit: Limit = 50) -> Response:
    """Return configurations, the newest first, each with its changes; secrets hidden."""
    return answer(history.list_configs(herder, connector, limit))
