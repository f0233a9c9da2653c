"""``connect import``: create the connectors of a Kafka Connect cluster, or of files, here, STOPPED."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from connect_core.cli.cluster import Access, is_url, opened_cluster
from connect_core.cli.connectors import Worker, console, opened_herder
from connect_core.cli.reports import print_imported, print_report
from connect_core.cli.spread import spread
from connect_core.errors import ConfigError
from connect_core.herder.context import Herder
from connect_core.java.properties import read_properties
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.markers import OffsetsTopic
from connect_core.migration.connect_api import ConnectApi
from connect_core.migration.definitions import Definition, chosen
from connect_core.migration.files import paths_of, read_definitions
from connect_core.migration.foreign_offsets import ForeignOffsetsTopic
from connect_core.migration.importing import Imported, Outcome, definition_of, import_all, there_of, with_worker
from connect_core.migration.report import ConnectorReport, There, examine

__all__ = ["import_connectors"]

Only = Annotated[
    str | None,
    typer.Option("--only", metavar="PATTERN", help="Only connectors with these names, for example orders-*."),
]


@dataclass(frozen=True, slots=True)
class _Found:
    """The connectors to import, their state in the cluster, and the cluster's client (``None`` for files)."""

    definitions: Sequence[Definition]
    there: dict[str, There]
    api: ConnectApi | None = None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of ``connect import``: the sources, the selection, and what is read beside them."""

    sources: Annotated[
        list[str],
        typer.Option("--from", metavar="URL|FILE", help="URL of a Connect cluster's REST API; or files and folders."),
    ]
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE]…", help="More files and folders.")] = None
    only: Only = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the report and import nothing.")] = False
    their_worker: Annotated[
        Path | None,
        typer.Option(
            "--their-worker",
            help="Properties file of their workers: its converters are given to connectors without their own.",
        ),
    ] = None
    offsets_topic: Annotated[
        str | None,
        typer.Option(
            "--offsets-topic",
            metavar="TOPIC",
            help="Their offset.storage.topic, on this worker's Kafka: source offsets are read there, not by REST.",
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False

    def places(self) -> list[str]:
        """Return all clusters, files and folders given."""
        return [*self.sources, *(self.files or ())]

    def converters(self) -> dict[str, str]:
        """Return the settings of ``--their-worker``; empty without it. Raise ConfigError."""
        return {} if self.their_worker is None else read_properties(self.their_worker)


@spread
def import_connectors(options: ImportOptions, access: Access, worker: Worker = None) -> None:
    """Report how connectors from elsewhere would run here, and create them, STOPPED and with their offsets.

    Idempotent. Exit 1 if one is not possible, fails, or exists here with another configuration.
    """
    converters = options.converters()
    with (
        _opened(options.places(), access, options.only) as found,
        opened_herder(worker, "importing", is_bulk=True) as herder,
    ):
        definitions = [with_worker(one, converters) for one in found.definitions]
        examined = (examine(herder, one, found.there.get(one.name)) for one in definitions)
        reports = list(examined) if options.as_json else print_report(console, examined)
        done = []
        topic = None if options.offsets_topic is None else _topic(herder, options.offsets_topic)
        possible = {one.name for one in reports if one.is_possible}
        wanted = [one for one in definitions if one.name in possible and not options.dry_run]
        for one in import_all(herder, wanted, found.api, topic):
            done.append(one)
            if not options.as_json:
                print_imported(console, one)
    if options.as_json:
        _print_json(console, reports, done)
    is_left = any(one.outcome in (Outcome.FAILED, Outcome.DIFFERENT) for one in done)
    if is_left or not all(one.is_possible for one in reports):
        raise typer.Exit(1)


@contextmanager
def _opened(given: Sequence[str], access: Access, only: str | None) -> Iterator[_Found]:
    urls = [one for one in given if is_url(one)]
    if len(urls) > 1 or (urls and len(given) > 1):
        raise ConfigError("--from", ", ".join(given), "give either one cluster or files and folders")
    if not urls:
        yield _Found(chosen(read_definitions(paths_of("--from", given)), only), {})
        return
    with opened_cluster(urls[0], access) as api:
        everything = {one.name: one for one in api.connectors()}
        definitions = chosen((definition_of(one, api.address) for one in everything.values()), only)
        classes = {one.config.get("connector.class", "") for one in definitions}
        known = {name: api.settings_of(name) for name in sorted(classes) if name}
        there = {one.name: there_of(api, everything[one.name], known) for one in definitions}
        yield _Found(definitions, there, api)


def _topic(herder: Herder, name: str) -> ForeignOffsetsTopic:
    return ForeignOffsetsTopic(OffsetsTopic(KafkaClients(herder.worker.resolved), name))


def _print_json(console: Console, reports: Sequence[ConnectorReport], done: Sequence[Imported]) -> None:
    imported = [
        {"name": one.name, "outcome": one.outcome.value, "why": one.why, "offsets": one.offsets} for one in done
    ]
    content = {"connectors": [one.to_json() for one in reports], "imported": imported}
    console.print_json(json.dumps(content))
