"""Printing of an import's report and of the plan of ``connect apply``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table

from connect_core.migration.applying import Action, Change, KeyDifference
from connect_core.migration.importing import Imported, Outcome
from connect_core.migration.keys import KeyTreatment
from connect_core.migration.report import ConnectorReport, Secret

__all__ = ["print_imported", "print_plan", "print_report"]

_KINDS = {"native": "green", "Java plugin": "cyan", "not possible": "bold red"}
_OUTCOMES = {
    Outcome.FAILED: "bold red",
    Outcome.DIFFERENT: "yellow",
    Outcome.CREATED: "green",
    Outcome.COMPLETED: "green",
}
_SIGNS = {Action.CREATE: "green", Action.UPDATE: "yellow", Action.DELETE: "red"}
_VERBS = {Action.CREATE: "will be created", Action.UPDATE: "will be updated", Action.DELETE: "will be destroyed"}


def print_report(console: Console, reports: Iterable[ConnectorReport]) -> list[ConnectorReport]:
    """Print the report of each connector as soon as it is made, then how many of each kind there are; return them."""
    made = []
    for one in reports:
        made.append(one)
        console.print(_head(one), soft_wrap=True)
        table = Table.grid(Column(min_width=10), Column(overflow="fold"), padding=(0, 2))
        for label, text in _lines(one):
            table.add_row(f"[dim]{label}[/]", escape(text))
        console.print(Padding(table, (0, 0, 1, 2)))
    kinds = Counter(one.kind for one in made)
    shown = ", ".join(f"{kinds[kind]} {_coloured(kind)}" for kind in _KINDS)
    console.print(f"{len(made)} connectors: {shown}", soft_wrap=True)
    return made


def _head(one: ConnectorReport) -> str:
    parts = [_coloured(one.kind), escape(one.plugin or "no class")]
    if one.there is not None:
        number = len(one.there.tasks)
        parts.append(f"{one.there.state}, {number} task{'s'[: number != 1]} there")
    return f"[bold]{escape(one.name)}[/] · {' · '.join(parts)}"


def _coloured(kind: str) -> str:
    return f"[{_KINDS[kind]}]{kind}[/]"


def _lines(one: ConnectorReport) -> Iterator[tuple[str, str]]:
    yield from (("why not", reason) for reason in one.reasons)
    if one.change:
        yield "guarantee", one.change
    told = {topic.name for topic in one.topics_here}
    yield from (("topics", f"{topic.name}: {topic.here}") for topic in one.topics_here)
    if unreported := [topic for topic in one.topics if topic not in told]:
        yield "topics", ", ".join(unreported)
    if one.group:
        yield "group", one.group
    if honoured := one.with_treatment(KeyTreatment.HONOURED):
        yield "honoured", ", ".join(key.key for key in honoured)
    for treatment in (KeyTreatment.MAPPED, KeyTreatment.UNNEEDED, KeyTreatment.MISSING):
        found = (key for key in one.with_treatment(treatment) if not key.is_blocking)
        yield from ((treatment.value, f"{key.key}: {key.why}") for key in found)
    yield from (("secrets", _secret(secret)) for secret in one.secrets)
    if one.sealed:
        yield "secrets", f"{', '.join(one.sealed)}: plain text there, encrypted here"
    yield from (("note", note) for note in one.notes)


def _secret(one: Secret) -> str:
    place = f"{one.provider}:{one.path}" if one.path else one.provider
    here = "" if one.is_here else ", which is not in the worker's config.providers"
    return f"{', '.join(one.keys)} from {place}{here}"


def print_imported(console: Console, one: Imported) -> None:
    """Print what was done with a connector."""
    colour = _OUTCOMES.get(one.outcome, "dim")
    number = f", {one.offsets} offset{'s'[: one.offsets != 1]}" if one.offsets else ""
    why = f": {escape(one.why)}" if one.why else ""
    console.print(f"[{colour}]{one.outcome.value}[/] {escape(one.name)}{number}{why}", soft_wrap=True)


def print_plan(console: Console, changes: Sequence[Change]) -> None:
    """Print a plan as Terraform does."""
    if not changes:
        console.print("No changes. The connectors match the folder.")
        return
    for one in changes:
        console.print(f"  [bold]# {escape(one.name)}[/] {_VERBS[one.action]}", soft_wrap=True)
        colour = _SIGNS[one.action]
        console.print(f"  [{colour}]{one.action.value}[/] connector {escape(json.dumps(one.name))} {{", soft_wrap=True)
        for line in _differences(one):
            console.print(f"      {line}", soft_wrap=True)
        console.print("    }\n")
    console.print(f"Plan: {_counted(changes, '{} to add, {} to change, {} to destroy')}.")


def _counted(changes: Sequence[Change], text: str) -> str:
    counts = Counter(one.action for one in changes)
    return text.format(counts[Action.CREATE], counts[Action.UPDATE], counts[Action.DELETE])


def _differences(change: Change) -> Iterator[str]:
    width = max((len(one.key) for one in change.differences), default=0)
    for one in change.differences:
        sign = "+" if one.before is None else "-" if one.after is None else "~"
        colour = {"+": "green", "-": "red", "~": "yellow"}[sign]
        yield f"[{colour}]{sign}[/] {escape(one.key.ljust(width))} = {escape(_values(one))}"
    if change.state is not None and change.action is not Action.DELETE:
        yield f"[dim]# state: {change.state}[/]"


def _values(one: KeyDifference) -> str:
    shown = [json.dumps(value, ensure_ascii=False) for value in (one.before, one.after) if value is not None]
    return " -> ".join(shown) + (" -> null" if one.after is None else "")
