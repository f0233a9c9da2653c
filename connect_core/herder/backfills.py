"""Exporting past time slots again, by the scheduler's backfill."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from connect_core.errors import BadRequestError, IllegalWorkerStateError
from connect_core.herder.context import Herder
from connect_core.herder.slot_calendar import SlotCalendar, SlotPeriod, get_calendar
from connect_core.herder.slot_times import MOST_SLOTS
from connect_core.herder.time_slots import SlotState
from connect_core.store import audit
from connect_core.store.audit import Act

__all__ = ["BackfillStarted", "start_backfill"]


@dataclass(frozen=True, slots=True)
class BackfillStarted:
    """The slots that will be exported again, one after the other: how many, and the time they cover."""

    connector: str
    slots: int
    start: datetime
    end: datetime


def start_backfill(herder: Herder, name: str, start: datetime, end: datetime) -> BackfillStarted:
    """Export the slots from ``start`` on and up to ``end`` again.

    Raise NotFoundError, BadRequestError where no slot lies in that time, or too many, IllegalWorkerStateError where
    they cannot be exported now, and what the scheduler raises.
    """
    calendar = get_calendar(herder, name, SlotPeriod(start, end))
    _ensure_all_are_told(calendar)
    slots = [slot for slot in calendar.slots if calendar.since is not None and slot.start >= calendar.since]
    if not slots:
        period = f"{start.isoformat()} to {end.isoformat()}"
        slots_of = f"give the times of slots of schedule={calendar.schedule}, which is in UTC"
        remedy = slots_of if calendar.schedule else calendar.reason
        raise BadRequestError(f"Connector {name} has no slot within {period}: {remedy}")
    if calendar.obstacle is not None:
        raise IllegalWorkerStateError(calendar.obstacle)
    if any(slot.state is SlotState.RUNNING for slot in slots):
        raise IllegalWorkerStateError(f"Connector {name} is exporting a slot within this time: wait for its end")
    if not all(slot.can_export_again for slot in slots):
        reached = "no time yet" if calendar.reached is None else calendar.reached.isoformat()
        raise IllegalWorkerStateError(f"The live export has reached {reached}: its next run exports what comes after")
    first, last = slots[0].end.astimezone(UTC), slots[-1].end.astimezone(UTC)
    herder.scheduler.backfill(name, first, last)
    started = BackfillStarted(name, len(slots), slots[0].start, slots[-1].end)
    with herder.database.write() as connection:
        told = {"from": started.start.isoformat(), "to": started.end.isoformat(), "slots": started.slots}
        audit.record(connection, Act(herder.actor, "backfill", name, after=told))
    return started


def _ensure_all_are_told(calendar: SlotCalendar) -> None:
    """Raise BadRequestError for a time with more slots than a calendar has: the earliest would not be exported."""
    slots, since = calendar.slots, calendar.since
    if len(slots) < MOST_SLOTS or since is None or slots[0].start <= since:
        return
    raise BadRequestError(
        f"Connector {calendar.connector} has more than {MOST_SLOTS} slots between {since.isoformat()} and "
        f"{slots[-1].end.isoformat()}: ask for {MOST_SLOTS} at most, one period after the other"
    )
