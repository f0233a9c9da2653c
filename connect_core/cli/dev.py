"""``connect dev``: the embedded stack on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Column, Table

from connect_core.dev.environment import parse_variables
from connect_core.dev.foreground import run_service
from connect_core.dev.home import Home
from connect_core.dev.services import AIRFLOW_NAMES, CELERY_NAMES, SERVICES, SPARK_CLUSTER_NAMES, STANDARD, find_service
from connect_core.dev.spark import ON_CLUSTER
from connect_core.dev.stack import RunningService, Stack
from connect_core.dev.supervisor import running
from connect_core.errors import ConnectError

__all__ = ["app", "down", "logs", "progress", "run", "status", "up"]

app = typer.Typer(help="Start, inspect and stop the embedded stack of this folder.", no_args_is_help=True)
console = Console(highlight=False)

_PLAIN_SECONDS = 5.0
_EXECUTOR = "AIRFLOW__CORE__EXECUTOR"
_REGISTRY = "CONNECT_SCHEMA_REGISTRY_URL"
Names = Annotated[list[str] | None, typer.Argument(help="The services; by default, all of them.")]


class _Progress:
    """Progress lines; transient ones are shown by the spinner, or printed at intervals if there is none."""

    def __init__(self, status: Status | None) -> None:
        self._status = status
        self._shown = time.monotonic()

    def say(self, line: str) -> None:
        console.print(escape(line), soft_wrap=True)

    def show(self, line: str) -> None:
        if self._status is not None:
            self._status.update(escape(line))
        elif time.monotonic() - self._shown > _PLAIN_SECONDS:
            self._shown = time.monotonic()
            self.say(line)


@contextmanager
def progress() -> Iterator[_Progress]:
    """Show progress: a spinner on a terminal, plain lines elsewhere."""
    if console.is_terminal:
        with console.status("starting") as status:
            yield _Progress(status)
    else:
        yield _Progress(None)


def _stack(names: tuple[str, ...] = STANDARD) -> Stack:
    home = Home.locate()
    return Stack(home.path, names, home.project)


@app.command()
def up(  # noqa: PLR0913
    names: Names = None,
    airflow: Annotated[bool, typer.Option(help="Start Airflow's four components.")] = True,
    spark: Annotated[bool, typer.Option(help="Start the Spark Connect server.")] = True,
    kafka: Annotated[bool, typer.Option(help="Start Kafka.")] = True,
    rest: Annotated[bool, typer.Option(help="Start Connect's REST API.")] = True,
    registry: Annotated[bool, typer.Option(help="Start a schema registry, Apicurio Registry.")] = False,
    celery: Annotated[bool, typer.Option(help="Run connectors by CeleryExecutor: Valkey and two workers.")] = False,
    spark_cluster: Annotated[
        bool, typer.Option(help="Run tasks on a Spark standalone cluster: a master and two workers.")
    ] = False,
) -> None:
    """Start PostgreSQL, Kafka, Spark, Airflow and the REST API, and wait for them."""
    left_out = {"spark": not spark, "kafka": not kafka, "rest": not rest, "registry": not registry}
    left_out |= dict.fromkeys(AIRFLOW_NAMES, not airflow) | dict.fromkeys(CELERY_NAMES, not (celery and airflow))
    left_out |= dict.fromkeys(SPARK_CLUSTER_NAMES, not (spark_cluster and spark))
    chosen = tuple(names) if names else tuple(name for name in SERVICES if not left_out.get(name))
    home = Home.locate()
    before = parse_variables(home.path / "settings.env")
    settings = {name: value for name, value in before.items() if name not in (_EXECUTOR, ON_CLUSTER)}
    settings |= {_EXECUTOR: "CeleryExecutor"} if celery else {}
    settings |= {ON_CLUSTER: "true"} if spark_cluster else {}
    stack = Stack(home.path, chosen, home.project, settings)
    started = time.monotonic()
    with progress() as report:
        changed = stack.up(report)
    if changed:
        console.print(f"The stack is up after {time.monotonic() - started:.1f} s; its state is in {stack.home.path}")
    else:
        console.print(f"The stack is already running in {stack.home.path}; nothing to do.")
    _print_addresses(stack)


@app.command()
def down() -> None:
    """Stop every process of this folder's stack, and nothing else."""
    stack = _stack()
    with console.status("stopping"):
        count = stack.down()
    console.print(f"The stack is down ({count} processes ended)." if count else "No stack is running here.")


@app.command()
def status(names: Names = None) -> None:
    """Show each service with its health; exit 1 when one that should be running is not."""
    stack = _stack()
    services = [stack.service(name) for name in names or SERVICES]
    table = Table(
        "service", "state", "pid", "port", "restarts", Column("log", overflow="fold"), box=None, pad_edge=False
    )
    states = {service.name: _state(service) for service in services}
    for service in services:
        port = (
            str(service.port)
            if find_service(service.name).ports and (stack.home.path / service.name / "port").exists()
            else ""
        )
        table.add_row(
            service.name,
            _COLOURS[states[service.name]],
            str(service.pid or ""),
            port,
            str(service.restarts),
            str(service.log_path),
        )
    console.print(table)
    if running(stack.home, "registry"):
        console.print(f"schema.registry.url is {escape(stack.environment().get(_REGISTRY, ''))}", soft_wrap=True)
    if running(stack.home, "supervisor") is None and any(service.pid for service in services):
        console.print("The supervisor is not running: `connect dev up` starts it again.")
    if "unhealthy" in states.values() or (names and "stopped" in states.values()):
        raise typer.Exit(1)


_COLOURS = {"healthy": "[green]healthy[/]", "unhealthy": "[red]unhealthy[/]", "stopped": "[dim]stopped[/]"}


def _state(service: RunningService) -> str:
    if service.is_healthy():
        return "healthy"
    return "unhealthy" if service.is_desired() else "stopped"


@app.command()
def logs(
    name: Annotated[
        str | None, typer.Argument(metavar="SERVICE", help="The service; by default, the supervisor.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the log as it grows.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="Number of lines to show, from the end.")] = 50,
) -> None:
    """Print the log of a service."""
    home = Home.locate()
    service = RunningService(home, find_service(name).name) if name else None
    path = service.log_path if service else home.path / "supervisor" / "console.log"
    if not path.exists():
        raise ConnectError(f"{path} does not exist yet: start the stack with `connect dev up`.")
    _print_log(path, lines, follow)


@app.command()
def run(name: Annotated[str, typer.Argument(metavar="SERVICE", help="The service to run in this process.")]) -> None:
    """Run one service in the foreground, as docker-compose.yaml does."""
    run_service(Home.locate(), name)


def _print_log(path: Path, lines: int, follow: bool) -> None:
    with path.open(errors="replace") as file:
        tail = file.readlines()[-lines:] if lines else []
        console.out("".join(tail), end="", highlight=False)
        while follow:
            line = file.readline()
            if line:
                console.out(line, end="", highlight=False)
            elif path.exists() and path.stat().st_size < file.tell():
                file.seek(0)
            else:
                time.sleep(0.2)


def _print_addresses(stack: Stack) -> None:
    environment = stack.environment()
    lines = {
        "Airflow": environment.get("CONNECT_AIRFLOW_URL"),
        "  user": environment.get("CONNECT_AIRFLOW_USER"),
        "  password in": environment.get("CONNECT_AIRFLOW_PASSWORD_FILE"),
        "REST API": environment.get("CONNECT_REST_URL"),
        "Kafka": environment.get("CONNECT_BOOTSTRAP_SERVERS"),
        "Spark UI": environment.get("CONNECT_SPARK_UI"),
        "Registry": environment.get(_REGISTRY) if running(stack.home, "registry") else None,
    }
    for label, value in lines.items():
        if value:
            console.print(f"{label:<14}{escape(value)}", soft_wrap=True)
