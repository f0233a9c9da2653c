"""A connector's intervals, and the records they skipped."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from connect_core.herder import history, interval_files, intervals
from connect_core.herder.interval_files import FilesRequest, IntervalFiles
from connect_core.rest.access import Reader
from connect_core.rest.answers import answer
from connect_core.rest.links import Links
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.parameters import FromRequest, Limit, Page, Sequence

__all__ = ["get_interval", "list_files", "list_intervals", "list_skipped", "router"]

Shown = TypeVar("Shown", bound=intervals.Interval)
"""An interval, with its tasks or without."""

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])


@router.get("/intervals", summary="Intervals of a connector, the newest first", response_model=intervals.IntervalPage)
def list_intervals(request: Request, connector: Name, herder: Reader, links: FromRequest, page: Page) -> Response:
    """Return a page of intervals, with ranges, counts, durations, attempts and where they ran."""
    found = intervals.list_page(herder, connector, page.limit, page.before)
    shown = [_linked(request, links, connector, one) for one in found.intervals]
    return answer(replace(found, intervals=shown))


@router.get("/intervals/{sequence}", summary="One interval with its tasks", response_model=intervals.IntervalWithTasks)
def get_interval(request: Request, connector: Name, sequence: Sequence, herder: Reader, links: FromRequest) -> Response:
    """Return an interval and the outcome of each task."""
    return answer(_linked(request, links, connector, intervals.get_interval(herder, connector, sequence)))


@router.get("/intervals/{sequence}/files", summary="The files an interval wrote", response_model=IntervalFiles)
def list_files(connector: Name, sequence: Sequence, herder: Reader, limit: Limit = 100) -> Response:
    """Return the files listed by the interval's marker in the target."""
    return answer(interval_files.list_files(herder, connector, FilesRequest(sequence, limit)))


def _linked(request: Request, links: Links, connector: str, interval: Shown) -> Shown:
    return replace(interval, run_url=links.run(request, connector, interval.run_id), spark_url=links.spark_url)


@router.get("/skipped", summary="Records a connector skipped", response_model=history.SkippedRecords)
def list_skipped(connector: Name, herder: Reader, limit: Limit = 100) -> Response:
    """Return skipped records by interval, task and reason, the newest first."""
    return answer(history.list_skipped(herder, connector, limit))
