"""``connect switch``: move one connector from a Kafka Connect cluster here, or back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.markup import escape

from connect_core.cli.cluster import Access, opened_cluster
from connect_core.cli.connectors import Name, Worker, console, opened_herder
from connect_core.cli.spread import spread
from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.status import get_status
from connect_core.migration.changes_there import differing_keys
from connect_core.migration.steps import Sides, Step
from connect_core.migration.switching import Switch
from connect_core.store import origins

__all__ = ["switch"]


@dataclass(frozen=True, slots=True)
class SwitchOptions:
    """The cluster, the direction and the time-out."""

    source: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="The cluster; by default, the one it was imported from.")
    ] = None
    back: Annotated[bool, typer.Option("--back", help="Move it back: its offsets here are written to the cluster.")] = (
        False
    )
    timeout: Annotated[float, typer.Option(help="Seconds to wait for tasks to end.", min=1.0)] = 360.0


@spread
def switch(name: Name, options: SwitchOptions, access: Access, worker: Worker = None) -> None:
    """Stop a connector on one side, transfer its final offsets, and start it on the other.

    An interrupted switch is completed by the same command, or undone by the opposite direction.
    """

    def reached(step: Step) -> None:
        console.print(f"  {step.value}")

    with opened_herder(worker) as herder:
        url = options.source or _origin(herder, name)
        with opened_cluster(url, access) as api:
            console.print(f"{escape(name)} {'back to' if options.back else 'from'} {escape(api.address)}")
            moving = Switch(herder, api, name, options.back, options.timeout)
            if options.back:
                _print_differing(herder, moving.sides())
            done = moving.run(reached)
            state = api.connector(name).state if options.back else get_status(herder, name).connector.state.value
    side = "there" if options.back else "here"
    if not done:
        console.print("It has already moved: nothing to do")
        return
    console.print(f"{escape(name)} is {side} now, {state}")


def _print_differing(herder: Herder, sides: Sides) -> None:
    """The way back may be urgent, and settings may differ on purpose: it is told, not refused."""
    if sides.origin.is_here and (found := differing_keys(herder, sides)):
        text = f"{', '.join(found)} differ: there it runs with the values it has there"
        console.print(f"[yellow]note[/] {escape(text)}", soft_wrap=True)


def _origin(herder: Herder, name: str) -> str:
    with herder.database.read() as connection:
        found = origins.find(connection, name)
    if found is None:
        raise NotFoundError(f"{name} was not imported: connect import --from URL --only {name}")
    return found.url
