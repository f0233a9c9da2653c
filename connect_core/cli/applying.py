"""``connect apply``: make the deployment's connectors match those of a folder, with a plan first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.markup import escape

from connect_core.cli.connectors import Worker, console, opened_herder
from connect_core.cli.reports import print_plan
from connect_core.cli.spread import spread
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.migration.applying import (
    Action,
    Applied,
    Change,
    apply_change,
    deletes_all,
    kept_stopped,
    plan,
    problem_of,
)
from connect_core.migration.files import paths_of, read_definitions

__all__ = ["apply"]

_PENDING = 2
_OTHER_FOLDER = (
    "Nothing was changed: {places} defines none of the connectors that are here, so --prune would delete all of them. "
    "Is it the right folder? Give --yes if they shall be deleted."
)
_DONE = {Action.CREATE: "Created", Action.UPDATE: "Updated", Action.DELETE: "Destroyed"}


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """Options of ``connect apply``."""

    prune: Annotated[bool, typer.Option("--prune", help="Delete connectors that no file defines.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")] = False
    detailed_exitcode: Annotated[
        bool,
        typer.Option("--detailed-exitcode", help="Exit with 2 if there are pending changes, as `terraform plan` does."),
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False


@spread
def apply(
    folder: Annotated[list[str], typer.Argument(metavar="FOLDER", help="Folders and files that define connectors.")],
    options: ApplyOptions,
    worker: Worker = None,
) -> None:
    """Plan the changes that make the connectors here match a folder, and apply them; idempotent.

    Deleted connectors keep their offsets. Errors in the files are reported before anything is changed.
    """
    wanted = read_definitions(paths_of("FOLDER", folder))
    with opened_herder(worker, is_bulk=True) as herder:
        changes = plan(herder, wanted, is_pruned=options.prune)
        print_plan(console, changes)
        _print_kept(kept_stopped(herder, wanted))
        _refuse_problems(herder, changes)
        if not changes or options.dry_run:
            raise typer.Exit(_PENDING if changes and options.detailed_exitcode else 0)
        if not options.yes and deletes_all(herder, changes):
            raise ConnectError(_OTHER_FOLDER.format(places=", ".join(folder)))
        if console.is_terminal and not options.yes:
            typer.confirm("Do you want to make these changes?", abort=True)
        done = [apply_change(herder, change) for change in changes]
    _print_done(done)


def _print_kept(names: Sequence[str]) -> None:
    for name in names:
        text = f"{name} stays STOPPED here: it was imported and may run in its cluster: connect switch {name}"
        console.print(f"[yellow]note[/] {escape(text)}", soft_wrap=True)


def _refuse_problems(herder: Herder, changes: Sequence[Change]) -> None:
    found = [(one.name, problem) for one in changes if (problem := problem_of(herder, one)) is not None]
    if found:
        lines = "\n".join(f"{name}: {problem}" for name, problem in found)
        raise ConnectError(f"Nothing was changed, because {len(found)} connectors would be rejected:\n{lines}")


def _print_done(done: Sequence[Applied]) -> None:
    for one in done:
        if one.error is None:
            console.print(f"{_DONE[one.change.action]} {escape(one.change.name)}")
        else:
            console.print(f"[bold red]Failed[/] {escape(one.change.name)}: {escape(one.error)}", soft_wrap=True)
    counts = Counter(one.change.action for one in done if one.error is None)
    parts = ", ".join(
        f"{counts[action]} {word}" for action, word in zip(Action, ("added", "changed", "destroyed"), strict=True)
    )
    failed = sum(one.error is not None for one in done)
    console.print(f"Apply {'complete' if not failed else 'incomplete'}! Connectors: {parts}.")
    if failed:
        raise typer.Exit(1)
