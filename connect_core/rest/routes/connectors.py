"""Connectors: list, create, read, delete; their tasks and status."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.errors import BadRequestError
from connect_core.herder import connectors
from connect_core.herder.connectors import ConnectorInfo, Expanded, TaskInfo
from connect_core.herder.status import ConnectorStateInfo, TaskState, get_status, get_task_status
from connect_core.java.strings import trim
from connect_core.rest.access import Deleter, Reader, Visible, ensure_allowed, ensure_settings_allowed
from connect_core.rest.answers import answer, empty
from connect_core.rest.entities import CreateConnectorRequest, NewConnectorBody
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import query_parameters, request_body
from connect_core.rest.routes.parameters import Name, TaskNumber

__all__ = [
    "create_connector",
    "created",
    "delete_connector",
    "get_connector",
    "get_connector_status",
    "get_connector_task_status",
    "get_connector_tasks",
    "list_connectors",
    "router",
]

router = APIRouter(prefix="/connectors", route_class=ConnectRoute, tags=["connectors"])

_KEPT = "/:@!$&'()*+,;=-._~%"
_OFFSETS = "keep (default) or forget"
_SWITCH = "keep (default: a delete during a switch is refused) or abandon"


@router.get(
    "",
    summary="Names of the connectors, or their status and info (KIP-465)",
    response_model=list[str] | dict[str, Expanded],
    openapi_extra={"parameters": query_parameters(expand="status or info; may be given twice")},
)
def list_connectors(request: Request, herder: Reader, visible: Visible) -> Response:
    """Return the names; with ``expand=status`` or ``expand=info`` a map by name."""
    if "expand" not in request.query_params:
        return answer(list(visible(connectors.list_names(herder))))
    expanded = connectors.expand(herder, request.query_params.getlist("expand"))
    return answer({name: expanded[name] for name in visible(expanded)})


@router.post(
    "",
    status_code=201,
    summary="Create a connector",
    response_model=ConnectorInfo,
    openapi_extra=request_body(CreateConnectorRequest),
)
def create_connector(request: Request, new: NewConnectorBody) -> Response:
    """Create a connector; ``initial_state`` STOPPED, PAUSED or RUNNING (KIP-980)."""
    name = trim(new.name or "")
    herder = ensure_allowed(request, "POST", name)
    ensure_settings_allowed(request, herder, name, new.config)
    return created(request, connectors.create(herder, new))


def created(request: Request, info: ConnectorInfo) -> Response:
    """Return the response for a connector that was created."""
    root = request.scope.get("root_path", "")
    location = f"{request.url.scheme}://{request.url.netloc}{root}/connectors/{_segment(info.name)}"
    return answer(info, 201, {"Location": location})


def _segment(name: str) -> str:
    """Return the name as ``UriBuilder.path`` writes it: sequences that look encoded are kept."""
    parts = name.split("%")
    rest = (part if part[:2].isalnum() and _is_hex(part[:2]) else f"25{part}" for part in parts[1:])
    return quote("%".join([parts[0], *rest]), safe=_KEPT)


def _is_hex(text: str) -> bool:
    return len(text) == 2 and all(character in "0123456789abcdefABCDEF" for character in text)


@router.get("/{connector}", summary="Configuration, tasks and type of a connector", response_model=ConnectorInfo)
def get_connector(connector: Name, herder: Reader) -> Response:
    """Return Connect's ``ConnectorInfo``."""
    return answer(connectors.get_info(herder, connector))


@router.delete(
    "/{connector}",
    status_code=204,
    summary="Delete a connector",
    openapi_extra={"parameters": query_parameters(offsets=_OFFSETS, switch=_SWITCH)},
)
def delete_connector(request: Request, connector: Name, herder: Deleter) -> Response:
    """Delete a connector; ``offsets=forget`` forgets its offsets, ``switch=abandon`` does so during a switch too."""
    offsets, switch = request.query_params.get("offsets", "keep"), request.query_params.get("switch", "keep")
    if offsets not in ("keep", "forget"):
        raise BadRequestError(f"offsets={offsets}: use keep or forget")
    if switch not in ("keep", "abandon"):
        raise BadRequestError(f"switch={switch}: use keep or abandon")
    connectors.delete(herder, connector, forget_offsets=offsets == "forget", abandon_switch=switch == "abandon")
    return empty()


@router.get("/{connector}/status", summary="State of a connector and its tasks", response_model=ConnectorStateInfo)
def get_connector_status(connector: Name, herder: Reader) -> Response:
    """Return Connect's ``ConnectorStateInfo``."""
    return answer(get_status(herder, connector).to_json())


@router.get("/{connector}/tasks", summary="Configurations of a connector's tasks", response_model=list[TaskInfo])
def get_connector_tasks(connector: Name, herder: Reader) -> Response:
    """Return Connect's list of ``TaskInfo``."""
    return answer(connectors.get_tasks(herder, connector))


@router.get("/{connector}/tasks/{task}/status", summary="State of a task", response_model=TaskState)
def get_connector_task_status(connector: Name, task: TaskNumber, herder: Reader) -> Response:
    """Return Connect's ``TaskState``."""
    return answer(get_task_status(herder, connector, task).to_json())
