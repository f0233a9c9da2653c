"""``connect slots | backfill``: the time slots of a scheduled export, and exporting past ones again."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from connect_core.cli.connectors import AsJson, Name, Worker, console, opened_herder
from connect_core.errors import ConnectError
from connect_core.herder.backfills import start_backfill
from connect_core.herder.slot_calendar import SlotCalendar, SlotPeriod, get_calendar
from connect_core.herder.time_slots import SlotState, TimeSlot

__all__ = ["backfill", "print_calendar", "slots"]

_COLOURS = {
    SlotState.FINISHED: "green",
    SlotState.LATE: "yellow",
    SlotState.RUNNING: "cyan",
    SlotState.FAILED: "bold red",
    SlotState.DUE: "blue",
    SlotState.MISSING: "bold red",
    SlotState.UNKNOWN: "dim",
}
_UNSOLVED = (SlotState.FAILED, SlotState.MISSING)


def slots(
    name: Name,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Slots that end later; by default, 7 days before --to.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Slots that end by then; by default, now.")
    ] = None,
    as_json: AsJson = False,
    worker: Worker = None,
) -> None:
    """List the time slots of a scheduled export with their states; exit 1 if one is missing or failed.

    TIME is ISO 8601, such as 2026-11-27T14:00Z; without a zone it is in UTC.
    """
    period = SlotPeriod(
        None if since is None else _time("--from", since), None if until is None else _time("--to", until)
    )
    with opened_herder(worker, f"reading the slots of {name}") as herder:
        found = get_calendar(herder, name, period)
    if as_json:
        console.print_json(orjson.dumps(found).decode())
    else:
        print_calendar(console, found)
    if any(slot.state in _UNSOLVED for slot in found.slots):
        raise typer.Exit(1)


def backfill(
    name: Name,
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="The start of the first slot.")],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="The end of the last slot.")],
    worker: Worker = None,
) -> None:
    """Export past time slots again, one after the other, by Airflow's backfill; the live position does not move.

    TIME is ISO 8601, such as 2026-11-27T14:00Z; without a zone it is in UTC. `connect slots` shows how far it is.
    """
    first, last = _time("--from", start), _time("--to", end)
    with opened_herder(worker, f"requesting a backfill of {name}") as herder:
        started = start_backfill(herder, name, first, last)
    number = f"{started.slots} slot{'s'[: started.slots > 1]}"
    period = f"{_shown(started.start)} to {_shown(started.end)}"
    console.print(f"Backfill requested: {number} of [bold]{escape(name)}[/], {period} UTC", soft_wrap=True)


def _time(option: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ConnectError(f"{option} {text} is not a time: write ISO 8601, such as 2026-11-27T14:00Z") from error


def _shown(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def print_calendar(console: Console, found: SlotCalendar) -> None:
    """Print the slots, the oldest first, then how many are in which state."""
    if found.reason is not None:
        console.print(escape(f"{found.connector}: {found.reason}"), soft_wrap=True)
        return
    table = Table(
        "start", "end", "state", "records", "late", Column("exported", overflow="fold"), box=None, pad_edge=False
    )
    for slot in found.slots:
        state = f"[{_COLOURS[slot.state]}]{slot.state.value}[/]" + (f" {escape(slot.reason)}" if slot.reason else "")
        times = slot.local_start[:16].replace("T", " "), slot.local_end[:16].replace("T", " ")
        table.add_row(*times, state, str(slot.records), str(slot.late), _exported(slot))
    console.print(table)
    counts = Counter(slot.state for slot in found.slots)
    console.print(", ".join(f"{counts[state]} {state.value}" for state in SlotState if counts[state]))
    reached = "nothing yet" if found.reached is None else f"everything before {_shown(found.reached)} UTC"
    console.print(f"Exported: {reached}. Times are in {escape(found.timezone)}.")
    if found.obstacle is not None:
        console.print(f"[yellow]No slot can be exported again now:[/] {escape(found.obstacle)}", soft_wrap=True)


def _exported(slot: TimeSlot) -> str:
    times = [] if slot.exported_at is None else [_shown(slot.exported_at)]
    return ", ".join([*times, *([] if slot.exported_again_at is None else [f"again {_shown(slot.exported_again_at)}"])])
