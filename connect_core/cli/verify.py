"""``connect verify``: recount what a sink has written, and report the differences."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from connect_core.cli.connectors import AsJson, Name, Worker, console, opened_herder
from connect_core.herder.verification import Verification, VerificationRequest
from connect_core.herder.verification import verify as recount

__all__ = ["print_verification", "verify"]

_SHOWN = 50


def verify(  # noqa: PLR0913
    name: Name,
    first: Annotated[int, typer.Option("--from", min=1, help="The first interval to recount.")] = 1,
    last: Annotated[int | None, typer.Option("--to", min=1, help="The last one; by default, the newest.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="When to stop, even if incomplete.")] = 600.0,
    as_json: AsJson = False,
    worker: Worker = None,
) -> None:
    """Recount a sink's target against its markers, the database and Kafka; exit 1 on differences, 2 if incomplete."""
    with opened_herder(worker, f"recounting {name}") as herder:
        found = recount(herder, name, VerificationRequest(first, last, seconds))
    if as_json:
        console.print_json(json.dumps(asdict(found)))
    else:
        print_verification(console, found)
    if found.difference_count:
        raise typer.Exit(1)
    if not (found.is_complete and found.is_recountable):
        raise typer.Exit(2)


def print_verification(console: Console, found: Verification) -> None:
    """Print what was counted, then the differences and what could not be compared."""
    if found.reason is not None:
        console.print(escape(found.reason), soft_wrap=True)
        return
    console.print(_head(found), soft_wrap=True)
    if found.partitions:
        console.print(_partitions(found))
    if found.differences:
        console.print(_differences(found))
    if found.difference_count > _SHOWN:
        console.print(f"… and {found.difference_count - _SHOWN} more differences: --json lists up to 1000")
    for note in found.notes:
        console.print(f"[dim]note: {escape(note)}[/]", soft_wrap=True)
    number = found.difference_count
    console.print("[green]no difference[/]" if not number else f"[bold red]{number} difference{'s'[: number > 1]}[/]")


def _head(found: Verification) -> str:
    which = "" if found.first is None else f" ({found.first} to {found.last})"
    uncounted = f", {found.uncounted} could not be counted" if found.uncounted else ""
    end = "" if found.is_complete else "; [bold yellow]time ran out before all intervals were recounted[/]"
    return (
        f"{escape(found.connector)}: {found.intervals} intervals{which}, {found.rows} rows in {found.parts} files or "
        f"tables, {found.found} counted{uncounted}{end}"
    )


def _partitions(found: Verification) -> Table:
    table = Table(Column("partition", overflow="fold"), "start", "end", "offsets", "in Kafka", "retained", box=None)
    for one in found.partitions:
        kafka = "unknown" if one.earliest is None else f"{one.earliest} to {one.stable}"
        retained = "unknown" if one.retained is None else str(one.retained)
        name = escape(f"{one.topic}-{one.partition}")
        table.add_row(name, str(one.start), str(one.end), str(one.offsets), kafka, retained)
    return table


def _differences(found: Verification) -> Table:
    table = Table("interval", "what", Column("where", overflow="fold"), "said", "found", box=None, pad_edge=False)
    for one in found.differences[:_SHOWN]:
        number = "" if one.interval is None else str(one.interval)
        table.add_row(number, f"[red]{escape(one.kind)}[/]", escape(one.place), escape(one.said), escape(one.found))
    return table
