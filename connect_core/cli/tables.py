"""Printing of connectors on a terminal, with a colour and a word for each state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from connect_core.herder.status import ConnectorStatus, State, TaskStatus
from connect_core.store.silences import Silence

__all__ = ["list_table", "print_silences", "print_status", "state_text"]

_COLOURS = {
    State.RUNNING: "green",
    State.PAUSED: "yellow",
    State.STOPPED: "dim",
    State.FAILED: "bold red",
    State.RESTARTING: "cyan",
    State.UNASSIGNED: "blue",
}


def state_text(state: State) -> str:
    """Return a state's word in its colour."""
    return f"[{_COLOURS[state]}]{state.value}[/]"


def list_table(statuses: Iterable[ConnectorStatus]) -> Table:
    """Return a table of the connectors, failed ones first, then stalled ones with the reason."""
    table = Table(Column("name", overflow="fold"), "type", "state", "tasks", "worker", box=None, pad_edge=False)
    found = sorted(statuses, key=lambda status: (not _has_failed(status), not status.is_stalled, status.name))
    for one in found:
        state = state_text(one.connector.state) + (" [bold red]stalled[/]" if one.is_stalled else "")
        name = escape(one.name) + (f"\n  [red]{escape(one.stall.reason)}[/]" if one.stall else "")
        table.add_row(name, one.type, state, _tasks(one.tasks), escape(one.connector.worker_id))
    return table


def print_status(console: Console, status: ConnectorStatus) -> None:
    """Print a connector and its tasks, then the traces of what has failed."""
    table = Table("", "state", "worker", "version", box=None, pad_edge=False)
    parts = [(f"{status.type} {status.name}", status.connector)]
    parts += [(f"  task {task.task}", task) for task in status.tasks]
    for label, part in parts:
        table.add_row(escape(label), state_text(part.state), escape(part.worker_id), part.version or "")
    console.print(table)
    if status.stall is not None:
        since = status.stall.since.isoformat(sep=" ", timespec="seconds")
        console.print(f"[bold red]stalled[/] since {since}: {escape(status.stall.reason)}", soft_wrap=True)
    for label, part in parts:
        if part.trace:
            console.print(f"\n{escape(label.strip())}:\n{escape(part.trace.rstrip())}", soft_wrap=True)


def print_silences(console: Console, silences: Sequence[Silence]) -> None:
    """Print the longest silence: since when Airflow has not answered; nothing while it answers."""
    for one in silences[:1]:
        since = one.since.isoformat(sep=" ", timespec="seconds")
        told = escape(f"{one.observer}: {one.reason}")
        console.print(f"[bold yellow]Airflow has not responded[/] since {since} ({told})", soft_wrap=True)


def _has_failed(status: ConnectorStatus) -> bool:
    return any(part.state is State.FAILED for part in (status.connector, *status.tasks))


def _tasks(tasks: Iterable[TaskStatus]) -> str:
    counts = Counter(task.state for task in tasks)
    return ", ".join(f"{count} {state_text(state)}" for state, count in counts.items()) or "none"
