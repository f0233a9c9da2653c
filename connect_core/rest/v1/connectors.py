"""Overviews of connectors: the list that the page shows, one connector's overview, its lag."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import history, lag, lifecycle, overview, schemas
from connect_core.registry import KAFKA_VERSION
from connect_core.rest.access import Editor, Reader, Visible
from connect_core.rest.answers import answer
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import RunStarted, WorkerInfo
from connect_core.rest.v1.parameters import FromRequest, Limit

__all__ = [
    "get_connector",
    "get_lag",
    "get_worker",
    "list_acts",
    "list_connectors",
    "list_schemas",
    "router",
    "run_now",
]

router = APIRouter(prefix="/v1", route_class=ConnectRoute, tags=["beyond Connect"])


@router.get("/worker", summary="How this API is deployed, and who is calling", response_model=WorkerInfo)
def get_worker(request: Request, herder: Reader, links: FromRequest) -> Response:
    """Return what the page needs to know about its server."""
    return answer(WorkerInfo(request.app.state.deployment, KAFKA_VERSION, herder.actor, links.airflow(request)))


@router.get("/connectors", summary="Overview of all connectors", response_model=overview.ConnectorSummaryList)
def list_connectors(herder: Reader, visible: Visible, links: FromRequest) -> Response:
    """Return a line for each connector, with a constant number of SQL statements."""
    found = {one.name: one for one in overview.summarize(herder)}
    lines = [replace(found[name], dag_id=links.dag_id(name)) for name in visible(found)]
    return answer(overview.ConnectorSummaryList(lines, overview.list_silences(herder)))


@router.get("/connectors/{connector}", summary="Overview of one connector", response_model=overview.ConnectorOverview)
def get_connector(request: Request, connector: Name, herder: Reader, links: FromRequest) -> Response:
    """Return a connector's line, its tasks with their traces, and its DAG."""
    found = overview.get_overview(herder, connector)
    return answer(replace(found, dag_id=links.dag_id(connector), dag_url=links.dag(request, connector)))


@router.get("/connectors/{connector}/lag", summary="How far a sink is behind", response_model=lag.Lag)
def get_lag(connector: Name, herder: Reader) -> Response:
    """Return the lag, from the positions and the ends of the topics in Kafka."""
    return answer(lag.get_lag(herder, connector))


@router.get(
    "/connectors/{connector}/schemas",
    summary="The newest schemas of a connector's topics in its registries",
    response_model=schemas.TopicSchemaList,
)
def list_schemas(connector: Name, herder: Reader) -> Response:
    """Return the schemas found in the registries of the converters, within seconds."""
    return answer(schemas.list_schemas(herder, connector))


@router.get("/connectors/{connector}/acts", summary="Audit log of a connector", response_model=history.ActRecordList)
def list_acts(connector: Name, herder: Reader, limit: Limit = 50) -> Response:
    """Return the audit of a connector, the newest first."""
    return answer(history.list_acts(herder, connector, limit))


@router.post(
    "/connectors/{connector}/run",
    status_code=202,
    summary="Run now, regardless of the schedule",
    response_model=RunStarted,
)
def run_now(connector: Name, herder: Editor) -> Response:
    """Start a run regardless of the schedule."""
    return answer(RunStarted(lifecycle.run_now(herder, connector) or None), 202)
