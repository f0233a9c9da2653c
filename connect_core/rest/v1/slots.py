"""The time slots of a scheduled export, and exporting them again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime
from starlette.responses import Response

from connect_core.herder import backfills, slot_calendar
from connect_core.herder.slot_calendar import SlotPeriod
from connect_core.rest.access import Editor, Reader
from connect_core.rest.answers import answer
from connect_core.rest.entities import Body
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import request_body
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import BackfillPeriod
from connect_core.rest.v1.parameters import checked

__all__ = ["list_slots", "router", "start_backfill"]

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])

_UNTIL = "Slots that end by then; by default now"
_SINCE = "Slots that end later: at most 31 days before `to`, by default 7"


def _period(
    since: Annotated[AwareDatetime | None, Query(alias="from", description=_SINCE)] = None,
    until: Annotated[AwareDatetime | None, Query(alias="to", description=_UNTIL)] = None,
) -> SlotPeriod:
    return SlotPeriod(since, until)


def _again(body: Body) -> tuple[datetime, datetime]:
    asked = checked(BackfillPeriod, body)
    return asked.start, asked.end


@router.get("/slots", summary="Time slots of a scheduled export", response_model=slot_calendar.SlotCalendar)
def list_slots(connector: Name, herder: Reader, period: Annotated[SlotPeriod, Depends(_period)]) -> Response:
    """Return the slots of a period: finished, late, running, due, missing, failed or unknown."""
    return answer(slot_calendar.get_calendar(herder, connector, period))


@router.post(
    "/backfill",
    status_code=202,
    summary="Export past time slots again, by Airflow's backfill",
    response_model=backfills.BackfillStarted,
    openapi_extra=request_body(BackfillPeriod),
)
def start_backfill(
    connector: Name, herder: Editor, period: Annotated[tuple[datetime, datetime], Depends(_again)]
) -> Response:
    """Start the runs of the slots within a time; the live position does not move."""
    return answer(backfills.start_backfill(herder, connector, *period), 202)
