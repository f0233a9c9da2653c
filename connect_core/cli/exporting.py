"""``connect export``: this deployment's connectors as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from connect_core.cli.connectors import Worker, console, opened_herder
from connect_core.cli.importing import Only
from connect_core.migration.definitions import chosen, hidden_keys
from connect_core.migration.exporting import FORMATS, stored_definitions, write_definitions

__all__ = ["export"]


def export(
    folder: Annotated[Path, typer.Argument(help="Folder for the files, one for each connector.")],
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "json",
    only: Only = None,
    cluster: Annotated[
        str, typer.Option(help="The name of the Connect cluster, for Strimzi and Confluent resources.")
    ] = "connect",
    worker: Worker = None,
) -> None:
    """Write connectors as files for `connect apply`, Kafka Connect, Strimzi or Confluent for Kubernetes.

    Secrets are not written: references stay as they are, other secrets are hidden.
    """
    with opened_herder(worker, "reading") as herder:
        found = chosen(stored_definitions(herder), only)
    written = write_definitions(found, folder, form, cluster)
    console.print(f"Wrote {len(written)} connectors to {escape(str(folder))}", soft_wrap=True)
    for one in found:
        if hidden := hidden_keys(one):
            text = (
                f"{one.name}: {', '.join(hidden)} [hidden]: `connect apply` keeps the stored value; supply it elsewhere"
            )
            console.print(f"[yellow]note[/] {escape(text)}", soft_wrap=True)
