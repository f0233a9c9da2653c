"""Information about the worker, and its health."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from connect_core.errors import ConnectError
from connect_core.herder.connectors import list_names
from connect_core.registry import KAFKA_VERSION
from connect_core.rest.access import Reader
from connect_core.rest.answers import answer
from connect_core.rest.negotiation import ProducingRoute

__all__ = ["ServerInfo", "WorkerStatus", "get_health", "get_root", "router"]

router = APIRouter(route_class=ProducingRoute, tags=["worker"])

_COMMIT = "connect-core"
_HEALTHY = "Worker has completed startup and is ready to handle requests."
_UNHEALTHY = "Worker was unable to handle this request and may be unable to handle other requests."


class ServerInfo(TypedDict):
    """Information about the worker."""

    version: str
    commit: str
    kafka_cluster_id: str


class WorkerStatus(TypedDict):
    """Whether the worker can serve requests."""

    status: Literal["healthy", "unhealthy"]
    message: str


@router.get("/", summary="Version of the API and id of the Kafka cluster", response_model=ServerInfo)
def get_root(request: Request, herder: Reader) -> Response:
    """Return Connect's ``ServerInfo``."""
    cluster_id: Callable[[], str] = request.app.state.cluster_id
    return answer(ServerInfo(version=KAFKA_VERSION, commit=_COMMIT, kafka_cluster_id=cluster_id()))


@router.get(
    "/health",
    summary="Whether the worker is healthy; accessible without a login (KIP-1017)",
    response_model=WorkerStatus,
)
def get_health(request: Request) -> Response:
    """Return Connect's ``WorkerStatus``, after checking the metadata database."""
    factory: Any = request.app.state.herder_factory
    try:
        list_names(factory("health"))
    except ConnectError:
        return answer(WorkerStatus(status="unhealthy", message=_UNHEALTHY), 500)
    return answer(WorkerStatus(status="healthy", message=_HEALTHY))
