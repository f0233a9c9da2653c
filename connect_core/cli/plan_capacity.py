"""``connect plan-capacity``: what a deployment needs for a given work, and which part is full first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from connect_core.capacity import (
    KINDS_OF_WORK,
    MEASURED,
    Deployment,
    Plan,
    Workload,
    figures_with,
    plan_capacity,
)
from connect_core.errors import ConfigError

__all__ = ["command", "plan_rows", "print_plan"]

_CONSOLE = Console()
_COUNTS = tuple(field.name for field in fields(Deployment) if field.name != "utilisation")


def command(  # noqa: PLR0913
    connectors: Annotated[int, typer.Option(help="Number of connectors.")] = 1_000,
    busy: Annotated[float, typer.Option(help="Share of them that moves data, 0 to 1.")] = 0.05,
    records: Annotated[float, typer.Option(help="Records a second, of all connectors together.")] = 100_000,
    record_bytes: Annotated[float, typer.Option(help="Bytes of a record on the wire, after compression.")] = 120,
    kind: Annotated[str, typer.Option(help=f"What is done: {', '.join(KINDS_OF_WORK)}.")] = "parquet",
    interval: Annotated[float, typer.Option(help="Seconds from an interval of a busy connector to its next.")] = 60,
    intervals_per_run: Annotated[float, typer.Option(help="Intervals of one Airflow task (run.linger.ms).")] = 1,
    has: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help=f"What there is, repeatable: {', '.join(_COUNTS)}. Machines and servers that are not named are as "
            "many as are needed.",
        ),
    ] = None,
    utilisation: Annotated[float, typer.Option(help="Share of each part that may be used, up to 1.")] = 0.7,
    measured: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Your own figure of a part, repeatable.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="JSON file of your own figures, by name.")] = None,
    parts: Annotated[bool, typer.Option("--parts", help="List the parts, their figures and benchmarks.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Work out what a deployment needs from measured parts, and name the part that is full first; exit 1 if one is."""
    own = figures_with({**_from_file(figures), **_named(measured)})
    if parts:
        _CONSOLE.print(_parts_table(own))
        return
    work = Workload(connectors, busy, records, record_bytes, kind, interval, intervals_per_run)
    plan = plan_capacity(work, _deployment(_named(has), utilisation), own)
    if as_json:
        _CONSOLE.print_json(json.dumps(_as_json(plan)))
    else:
        print_plan(_CONSOLE, plan)
    if plan.too_small:
        raise typer.Exit(1)


def _deployment(given: Mapping[str, float], utilisation: float) -> Deployment:
    for name, value in given.items():
        if name not in _COUNTS:
            raise ConfigError("has", name, f"use one of {', '.join(_COUNTS)}")
        if not value.is_integer():
            raise ConfigError(name, value, "it is not a whole number")
    return Deployment(**{name: int(value) for name, value in given.items()}, utilisation=utilisation)


def print_plan(to: Console, plan: Plan) -> None:
    """Print what the work comes to, the table of parts, and what is full first."""
    work = plan.workload
    to.print(
        f"{work.connectors:,} connectors, {work.busy:.0%} busy, {work.records:,.0f} records a second "
        f"({KINDS_OF_WORK[work.kind]}): {work.intervals:.2f} intervals, {work.starts:.2f} task starts and "
        f"{plan.writes:,.0f} rows of the databases a second",
        soft_wrap=True,
    )
    table = Table(
        "part", *(Column(name, justify="right") for name in ("need", "one takes", "number", "used")), box=None
    )
    for row in plan_rows(plan):
        table.add_row(*row)
    to.print(table)
    limit, at = plan.limit, f"{plan.limit.used:.0%}"
    to.print(f"[bold]Full first: {limit.name}, used to {at}.[/] When it is: {escape(limit.remedy)}.", soft_wrap=True)
    for part in plan.too_small:
        if part is not limit:
            to.print(
                f"[bold yellow]Too small: {part.name}, used to {part.used:.0%}.[/] {escape(part.remedy)}.",
                soft_wrap=True,
            )


def plan_rows(plan: Plan) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield a row for each part: name, need, what one takes, how many, and how far they are used."""
    for part in plan.parts:
        count = f"{part.wanted if part.fixed is None else part.fixed} x {part.each}"
        yield part.name, f"{_short(part.need)} {part.unit}", _short(part.one), count, f"{part.used:.0%}"


def _short(number: float) -> str:
    """Return a number with about three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _parts_table(own: Mapping[str, float]) -> Table:
    # The names are typed after --measured: in a narrow terminal the other columns are folded.
    name = Column("name", no_wrap=True)
    table = Table(
        name, Column("value", justify="right"), "unit", "what", Column("benchmark", overflow="fold"), box=None
    )
    for key, part in MEASURED.items():
        source = part.source if own[key] == part.value else "your own"
        table.add_row(key, f"{own[key]:.4g}", part.unit, part.what, source)
    return table


def _as_json(plan: Plan) -> dict[str, Any]:
    parts = [{**asdict(part), "wanted": part.wanted, "used": part.used} for part in plan.parts]
    rates = {"intervals_per_second": plan.workload.intervals, "task_starts_per_second": plan.workload.starts}
    rates |= {"rows_written_per_second": plan.writes, "overhead_cores": plan.overhead}
    return {"workload": asdict(plan.workload), **rates, "parts": parts, "limit": plan.limit.name}


def _named(pairs: Sequence[str] | None) -> dict[str, float]:
    found = {}
    for pair in pairs or ():
        name, _, value = pair.partition("=")
        found[name] = _number(name, value)
    return found


def _from_file(file: Path | None) -> dict[str, float]:
    if file is None:
        return {}
    try:
        given = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError("figures", file, f"it cannot be read as JSON: {error}") from error
    if not isinstance(given, dict):
        raise ConfigError("figures", file, "it must hold one object, of figures by name")
    return {name: _number(name, value) for name, value in given.items()}


def _number(name: str, value: object) -> float:
    try:
        return float(str(value))
    except ValueError as error:
        raise ConfigError(name, value, "it is not a number") from error
