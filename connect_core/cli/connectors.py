"""``connect create | list | status | pause | resume | stop | restart | delete``: connectors of a deployment."""

from __future__ import annotations

import getpass
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from connect_core.cli.deployment import open_deployment, settings_of
from connect_core.cli.tables import list_table, print_silences, print_status
from connect_core.configs import ConnectorFile, read_connector_file
from connect_core.dag.scheduler import RequestingScheduler
from connect_core.errors import BadRequestError, ConnectError
from connect_core.herder import connectors, lifecycle
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.herder.lifecycle import RestartRequest
from connect_core.herder.observer import Observer
from connect_core.herder.overview import list_silences
from connect_core.herder.status import get_status, list_statuses
from connect_core.store import check

__all__ = [
    "create",
    "delete",
    "list_connectors",
    "opened_herder",
    "pause",
    "restart",
    "resume",
    "status",
    "stop",
]

console = Console(highlight=False)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The connector's name.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME", help="Names of connectors.")]
Worker = Annotated[
    Path | None,
    typer.Option(
        "--worker", "-w", help="The worker's settings file; by default, the one that CONNECT_WORKER_CONFIG names."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print Connect's JSON instead of a table.")]

_LIVE_SECONDS = 20.0
"""More than servers wait for the systems of a configuration: a command has their libraries to import first."""


@contextmanager
def opened_herder(worker: Path | None, what: str = "", *, is_bulk: bool = False) -> Iterator[Herder]:
    """Open the deployment for one command; ``what`` is shown while it runs.

    ``is_bulk``: for many connectors. Airflow is then told of all of them at the end, since every single one would wait
    for a parse of the file with all DAGs. What it does not do in time stays a request, for the watcher.
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    for noisy in ("connect_core.settings", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    deployment = open_deployment(settings_of(worker), is_service=False)
    try:
        check(deployment.database)
        with console.status(escape(what)):
            herder = replace(deployment.herder(getpass.getuser()), live_seconds=_LIVE_SECONDS)
            airflow = deployment.reconciler
            if not is_bulk or airflow is None:
                yield herder
            else:
                yield replace(herder, scheduler=RequestingScheduler(deployment.database, herder.actor))
                airflow.serve()
    finally:
        deployment.database.close()


def create(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Connectors: .properties, or .json as for POST /connectors."),
    ],
    is_replaced: Annotated[
        bool, typer.Option("--replace/--no-replace", help="Replace the configuration of a connector that exists.")
    ] = False,
    worker: Worker = None,
) -> None:
    """Create connectors from files, as POST /connectors does; each becomes an Airflow DAG."""
    wanted = [(file, read_connector_file(file)) for file in files]
    names = ", ".join(one.name for _, one in wanted[:3])
    with opened_herder(worker, f"creating {names}", is_bulk=len(wanted) > 1) as herder:
        for file, one in wanted:
            try:
                done = _create(herder, one, is_replaced=is_replaced)
            except BadRequestError as error:
                raise ConnectError(f"{file}: {error}") from error
            console.print(f"{done} connector [bold]{escape(one.name)}[/]")


def _create(herder: Herder, wanted: ConnectorFile, *, is_replaced: bool) -> str:
    if is_replaced and wanted.name in connectors.list_names(herder):
        connectors.put_config(herder, wanted.name, wanted.config)
        return "Reconfigured"
    connectors.create(herder, NewConnector(wanted.name, wanted.config, wanted.initial_state))
    return "Created"


def list_connectors(as_json: AsJson = False, worker: Worker = None) -> None:
    """List the connectors with their state, failed and stalled ones first, as GET /connectors?expand=status does."""
    with opened_herder(worker, "reading") as herder:
        _observe(herder)
        found, silences = list_statuses(herder), list_silences(herder)
    if as_json:
        console.print_json(json.dumps({name: one.to_json() for name, one in found.items()}))
        return
    print_silences(console, silences)
    if found:
        console.print(list_table(found.values()))
    else:
        console.print("There are no connectors yet: create one with `connect create FILE`.")


def _observe(herder: Herder) -> None:
    """Look for waiting work (stalls), unless a process of the deployment does so already."""
    Observer(herder.database, herder.ends).look_if_nobody_does()


def status(
    name: Annotated[str | None, typer.Argument(help="The connector; by default, all of them.")] = None,
    as_json: AsJson = False,
    worker: Worker = None,
) -> None:
    """Show the state of a connector and its tasks, with traces; exit 1 when something has failed."""
    if name is None:
        list_connectors(as_json, worker)
        return
    with opened_herder(worker, "reading") as herder:
        _observe(herder)
        found, silences = get_status(herder, name), list_silences(herder)
    if as_json:
        console.print_json(json.dumps(found.to_json()))
    else:
        print_silences(console, silences)
        print_status(console, found)
    if any(part.state.value == "FAILED" for part in (found.connector, *found.tasks)):
        raise typer.Exit(1)


def pause(names: Names, worker: Worker = None) -> None:
    """Pause connectors: a running interval ends at its next commit point, the tasks stay."""
    _each(names, worker, "Paused", lifecycle.pause)


def resume(names: Names, worker: Worker = None) -> None:
    """Resume paused or stopped connectors."""
    _each(names, worker, "Resumed", lifecycle.resume)


def stop(names: Names, worker: Worker = None) -> None:
    """Stop connectors and give up their tasks; their offsets can be altered then."""
    _each(names, worker, "Stopped", lifecycle.stop)


def restart(
    name: Name,
    include_tasks: Annotated[bool, typer.Option("--include-tasks", help="Also restart the tasks.")] = False,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Restart only what has failed.")] = False,
    task: Annotated[int | None, typer.Option(help="Restart only this task.")] = None,
    worker: Worker = None,
) -> None:
    """Restart a connector, its tasks, or one task."""
    with opened_herder(worker, f"restarting {name}") as herder:
        if task is not None:
            lifecycle.restart_task(herder, name, task)
            planned = None
        else:
            planned = lifecycle.restart(herder, name, RestartRequest(only_failed, include_tasks))
    console.print(f"Restarted {escape(name)}" + (f", task {task}" if task is not None else ""))
    if planned is not None:
        print_status(console, planned)


def delete(
    names: Names,
    forget_offsets: Annotated[
        bool,
        typer.Option(
            "--forget-offsets",
            help="Delete its offsets too; otherwise a new connector of that name continues from them.",
        ),
    ] = False,
    abandon_switch: Annotated[
        bool,
        typer.Option(
            "--abandon-switch",
            help="Delete it also in the middle of a switch, if its cluster is gone: what is there stays as it is.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    worker: Worker = None,
) -> None:
    """Delete connectors with their DAGs; data already written is kept."""
    offsets = "its offsets are forgotten" if forget_offsets else "its offsets are kept"
    if console.is_terminal and not yes:
        typer.confirm(f"Delete {', '.join(names)}? Its runs end, its DAG is removed, {offsets}.", abort=True)

    def act(herder: Herder, name: str) -> None:
        connectors.delete(herder, name, forget_offsets=forget_offsets, abandon_switch=abandon_switch)

    _each(names, worker, "Deleted", act)


def _each(names: Sequence[str], worker: Path | None, done: str, act: Callable[[Herder, str], None]) -> None:
    with opened_herder(worker, is_bulk=len(names) > 1) as herder:
        for name in names:
            act(herder, name)
            console.print(f"{done} {escape(name)}")
