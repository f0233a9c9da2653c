"""Pause, resume, stop, restart."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import lifecycle
from connect_core.herder.lifecycle import RestartRequest
from connect_core.herder.status import ConnectorStateInfo
from connect_core.rest.access import Editor
from connect_core.rest.answers import answer, empty
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import query_parameters
from connect_core.rest.routes.parameters import Name, TaskNumber, is_true

__all__ = ["pause", "restart", "restart_task", "resume", "router", "stop"]

router = APIRouter(prefix="/connectors/{connector}", route_class=ConnectRoute, tags=["life cycle"])


@router.put("/pause", status_code=202, response_class=Response, summary="Pause a connector")
def pause(connector: Name, herder: Editor) -> Response:
    """End the running interval at its next commit point; the tasks stay."""
    lifecycle.pause(herder, connector)
    return empty(202)


@router.put("/resume", status_code=202, response_class=Response, summary="Resume a paused or stopped connector")
def resume(connector: Name, herder: Editor) -> Response:
    """Start a connector again."""
    lifecycle.resume(herder, connector)
    return empty(202)


@router.put("/stop", status_code=204, summary="Stop a connector and remove its tasks (KIP-875)")
def stop(connector: Name, herder: Editor) -> Response:
    """End the running interval at its next commit point and give up the tasks."""
    lifecycle.stop(herder, connector)
    return empty()


@router.post(
    "/restart",
    status_code=204,
    summary="Restart a connector, and optionally its tasks (KIP-745)",
    responses={202: {"model": ConnectorStateInfo, "description": "What restarts"}},
    openapi_extra={"parameters": query_parameters(includeTasks="true or false", onlyFailed="true or false")},
)
def restart(request: Request, connector: Name, herder: Editor) -> Response:
    """Restart; with ``includeTasks`` or ``onlyFailed`` the response shows which parts restart."""
    wanted = RestartRequest(is_true(request, "onlyFailed"), is_true(request, "includeTasks"))
    planned = lifecycle.restart(herder, connector, wanted)
    return empty() if planned is None else answer(planned.to_json(), 202)


@router.post("/tasks/{task}/restart", status_code=204, summary="Restart a task")
def restart_task(connector: Name, task: TaskNumber, herder: Editor) -> Response:
    """Run the task's part of its interval again."""
    lifecycle.restart_task(herder, connector, task)
    return empty()
