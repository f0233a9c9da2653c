"""The command ``connect``: a table of sub-commands, each loaded when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

import typer
from rich.console import Console
from rich.markup import escape

from connect_core.dev.environment import load_environment
from connect_core.dev.home import Home
from connect_core.errors import ConnectError, MissingLibraryError

__all__ = ["COMMANDS", "application", "main"]

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "quickstart": (
            "connect_core.cli.quickstart:quickstart",
            "Start the embedded stack, run the examples on live data, and show what they moved.",
        ),
        "dev": ("connect_core.cli.dev:app", "Start, inspect and stop the embedded stack of this folder."),
        "standalone": (
            "connect_core.cli.standalone:standalone",
            "Run connectors in this process, without Airflow.",
        ),
        "distributed": (
            "connect_core.cli.distributed:distributed",
            "Check database, Kafka and Airflow, then serve the REST API of a deployment.",
        ),
        "rest": ("connect_core.cli.rest:rest", "Serve the REST API; settings come from the environment."),
        "create": ("connect_core.cli.connectors:create", "Create connectors from files; each becomes an Airflow DAG."),
        "list": (
            "connect_core.cli.connectors:list_connectors",
            "List the connectors with their state, failed and stalled ones first.",
        ),
        "status": ("connect_core.cli.connectors:status", "Show the state of a connector and its tasks, with traces."),
        "pause": ("connect_core.cli.connectors:pause", "Pause connectors at their next commit point."),
        "resume": ("connect_core.cli.connectors:resume", "Resume paused or stopped connectors."),
        "stop": ("connect_core.cli.connectors:stop", "Stop connectors and remove their tasks."),
        "restart": ("connect_core.cli.connectors:restart", "Restart a connector, its tasks, or one task."),
        "delete": (
            "connect_core.cli.connectors:delete",
            "Delete connectors; their offsets are kept by default.",
        ),
        "import": (
            "connect_core.cli.importing:import_connectors",
            "Import connectors from a Kafka Connect cluster or from files, with a report; they stay STOPPED.",
        ),
        "switch": (
            "connect_core.cli.switching:switch",
            "Move a connector and its offsets from a Kafka Connect cluster to here, or back.",
        ),
        "export": (
            "connect_core.cli.exporting:export",
            "Write connectors as JSON, properties, Strimzi or Confluent resources.",
        ),
        "apply": (
            "connect_core.cli.applying:apply",
            "Make the connectors match those of a folder, with a plan first, as Terraform does.",
        ),
        "verify": (
            "connect_core.cli.verify:verify",
            "Recount what a sink has written, and compare it with its markers, the database and Kafka.",
        ),
        "slots": (
            "connect_core.cli.slots:slots",
            "List the time slots of a scheduled export: finished, late, running, missing or failed.",
        ),
        "backfill": (
            "connect_core.cli.slots:backfill",
            "Export past time slots of a scheduled export again, by Airflow's backfill.",
        ),
        "plan-capacity": (
            "connect_core.cli.plan_capacity:command",
            "Work out what a deployment needs for so many connectors and records, and what is full first.",
        ),
        "new-connector": (
            "connect_core.cli.new_connector:new_connector",
            "Create an installable package with a source, a sink, or both, and their tests.",
        ),
        "java": ("connect_core.cli.java:app", "Manage Connect's Java plugins: install what they need, list them."),
        "doctor": (
            "connect_core.cli.doctor:doctor",
            "Check this machine and its stack, with a remedy for each problem.",
        ),
    }
)
"""Name → import target (a typer application or a function), and one line of help."""

_EXTRAS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("quickstart", "dev", "java", "doctor"), "dev-stack"),
        **dict.fromkeys(("rest", "distributed"), "rest"),
        "standalone": "standalone",
    }
)
"""Name → the extra that installs what it imports; every other command needs ``client``."""


def application(chosen: str | None) -> typer.Typer:
    """Build the application with only the chosen command imported."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
    app.callback()(_connect)
    for name, (target, line) in COMMANDS.items():
        if name == chosen:
            _add(app, name, target)
        else:
            app.command(name, help=line)(_not_loaded)
    return app


def main() -> None:
    """Run the command line; a ConnectError is printed as one sentence, with exit 1."""
    chosen = next(iter(sys.argv[1:]), None)
    try:
        # Commands that start the stack compute its environment; the others run within it.
        if chosen not in ("dev", "quickstart"):
            load_environment(Home.locate())
        application(chosen)()
    except ConnectError as error:
        Console(stderr=True).print(f"[bold red]connect:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)


def _add(app: typer.Typer, name: str, target: str) -> None:
    module, _, attribute = target.partition(":")
    try:
        command = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(error.name, _EXTRAS.get(name, "client")) from error
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def _connect() -> None:
    """Kafka Connect as bounded, orchestrated ingestion: connectors as Airflow DAGs of Spark jobs."""


def _not_loaded() -> None:
    """Serve as placeholder of a command that was not chosen."""


if __name__ == "__main__":
    main()
