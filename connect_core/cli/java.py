"""``connect java``: download the Java runtime, and list the Java plugins."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from connect_core.configs import load_worker
from connect_core.dev.java_runtime import build_host, java_runtime
from connect_core.errors import ConnectError
from connect_core.java_host.jar import HOST_JAR
from connect_core.java_plugins.plugins import JavaPlugins

__all__ = ["app"]

app = typer.Typer(help="Manage Connect's Java plugins: install what they need, list them.", no_args_is_help=True)


@app.command()
def fetch() -> None:
    """Download Connect's Java runtime, which all Java plugins need, for this user."""
    console = Console(highlight=False)
    folder = java_runtime(console.print)
    console.print(f"Connect's Java runtime is in {folder}", soft_wrap=True)


@app.command()
def plugins(
    worker: Path | None = typer.Option(None, help="The worker's properties; default: CONNECT_WORKER_CONFIG."),
) -> None:
    """List the Java plugins of plugin.path, and report any problem with them."""
    named = worker or (Path(os.environ["CONNECT_WORKER_CONFIG"]) if "CONNECT_WORKER_CONFIG" in os.environ else None)
    found = JavaPlugins.of(load_worker(named, os.environ))
    if found is None:
        raise ConnectError("plugin.path in the worker's settings names no folder")
    table = Table("class", "type", "version", "from")
    for one in found.catalog.classes:
        if one.is_offered:
            table.add_row(one.name, one.type, one.version, one.location or "java.plugin.libs")
    Console(highlight=False).print(table)
    if found.trouble is not None:
        raise ConnectError(found.trouble)


@app.command(hidden=True)
def build(folder: Path = typer.Argument(HOST_JAR.parent, help="Where to write host.jar.")) -> None:
    """Build the Java host of this checkout from its sources."""
    console = Console(highlight=False)
    console.print(f"Built {build_host(folder, console.print)}", soft_wrap=True)
