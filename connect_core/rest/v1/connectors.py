"""Connectors at a glance: the list a page shows, one connector's overview, its lag."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import history, lag, lifecycle, overview
from connect_core.herder.status import PartStatus
from connect_core.registry import KAFKA_VERSION
from connect_core.rest.access import Editor, Reader, Visible
from connect_core.rest.answers import answer
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import (
    ActList,
    ConnectorOverview,
    ConnectorSummaryList,
    Lag,
    RunStarted,
    WorkerInfo,
)
from connect_core.rest.v1.parameters import FromRequest, Limit

__all__ = ["get_connector", "get_lag", "get_worker", "list_acts", "list_connectors", "router", "run_now"]

router = APIRouter(prefix="/v1", route_class=ConnectRoute, tags=["beyond Connect"])


@router.get("/worker", summary="Which face of the API this is, and who asks", response_model=WorkerInfo)
def get_worker(request: Request, herder: Reader, links: FromRequest) -> Response:
    """Return what a page has to know of the server behind it."""
    return answer(
        {
            "face": request.app.state.face,
            "version": KAFKA_VERSION,
            "user": herder.actor,
            "airflow_url": links.airflow(request),
        }
    )


@router.get("/connectors", summary="All connectors at a glance", response_model=ConnectorSummaryList)
def list_connectors(herder: Reader, visible: Visible, links: FromRequest) -> Response:
    """Return a line for each connector, by a constant number of SQL statements."""
    found = {one.name: one for one in overview.summarize(herder)}
    lines = [_line(found[name], links.dag_id(name)) for name in visible(found)]
    return answer({"connectors": lines, "scheduler_silences": overview.list_silences(herder)})


def _line(summary: overview.Summary, dag_id: str | None) -> orjson.Fragment:
    line = orjson.dumps(summary)
    return orjson.Fragment(line[:-1] + b',"dag_id":' + orjson.dumps(dag_id) + b"}")


@router.get("/connectors/{connector}", summary="One connector at a glance", response_model=ConnectorOverview)
def get_connector(request: Request, connector: Name, herder: Reader, links: FromRequest) -> Response:
    """Return a connector's line, its tasks with their traces, and where it lives."""
    found = overview.get_overview(herder, connector)
    line = orjson.loads(orjson.dumps(found.summary))
    return answer(
        {
            **line,
            "dag_id": links.dag_id(connector),
            "config_version": found.config_version,
            "planned_version": found.planned_version,
            "created_at": found.created_at,
            "updated_at": found.updated_at,
            "retry_at": found.retry_at,
            "trace": found.status.connector.trace,
            "task_views": [_task(one) for one in found.status.tasks],
            "dead_letter_topic": found.dead_letter_topic,
            "topics": found.topics,
            "dag_url": links.dag(request, connector),
        }
    )


def _task(part: PartStatus) -> dict[str, Any]:
    return {
        "task": part.task,
        "state": part.state.value,
        "worker_id": part.worker_id,
        "version": part.version,
        "trace": part.trace,
    }


@router.get("/connectors/{connector}/lag", summary="How far a sink is behind", response_model=Lag)
def get_lag(connector: Name, herder: Reader) -> Response:
    """Ask Kafka where the topics end, and compare."""
    return answer(lag.get_lag(herder, connector))


@router.get("/connectors/{connector}/acts", summary="What was done to a connector", response_model=ActList)
def list_acts(connector: Name, herder: Reader, limit: Limit = 50) -> Response:
    """Return the audit of a connector, the newest first."""
    return answer({"acts": history.list_acts(herder, connector, limit)})


@router.post(
    "/connectors/{connector}/run", status_code=202, summary="Run now, whatever the schedule", response_model=RunStarted
)
def run_now(connector: Name, herder: Editor) -> Response:
    """Start a run; one that waits for data is ended by it."""
    return answer({"run_id": lifecycle.run_now(herder, connector) or None}, 202)
