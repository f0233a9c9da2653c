"""A connector's intervals, and the records they skipped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import history, intervals
from connect_core.rest.access import Reader
from connect_core.rest.answers import answer
from connect_core.rest.links import Links
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import IntervalDetail, IntervalPage, SkippedRecords
from connect_core.rest.v1.parameters import FromRequest, Limit, Page, Sequence

__all__ = ["get_interval", "list_intervals", "list_skipped", "router"]

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])


@router.get("/intervals", summary="Intervals of a connector, the newest first", response_model=IntervalPage)
def list_intervals(request: Request, connector: Name, herder: Reader, links: FromRequest, page: Page) -> Response:
    """Return a page of intervals: what range, how much, how long, which attempt, where."""
    found = intervals.list_page(herder, connector, page.limit, page.before)
    shown = [_linked(request, links, connector, one) for one in found.intervals]
    return answer({"intervals": shown, "next": found.next})


@router.get("/intervals/{sequence}", summary="One interval with its tasks", response_model=IntervalDetail)
def get_interval(request: Request, connector: Name, sequence: Sequence, herder: Reader, links: FromRequest) -> Response:
    """Return an interval and what became of each task."""
    return answer(_linked(request, links, connector, intervals.get_interval(herder, connector, sequence)))


def _linked(request: Request, links: Links, connector: str, interval: Mapping[str, Any]) -> dict[str, Any]:
    run_url = links.run(request, connector, interval["run_id"])
    return {**interval, "run_url": run_url, "spark_url": links.spark_url}


@router.get("/skipped", summary="Records a connector skipped", response_model=SkippedRecords)
def list_skipped(connector: Name, herder: Reader, limit: Limit = 100) -> Response:
    """Return skipped records by interval, task and reason, the newest first."""
    return answer(history.list_skipped(herder, connector, limit))
