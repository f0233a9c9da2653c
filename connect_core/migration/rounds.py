"""What one request of the REST API does of an import or a switch: a bounded part, which the next request continues.

A switch may take minutes, and a report of a thousand connectors too. No thread outlives a request, and no login is
kept for one: the state of both sides says what is left, so a caller asks again until nothing is, and sends its login
each time. Whoever stops asking leaves what a killed command leaves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.status import State, get_status
from connect_core.migration.changes_there import differing_keys
from connect_core.migration.connect_api import ConnectApi
from connect_core.migration.definitions import Definition
from connect_core.migration.importing import Imported, definition_of, import_one, there_of, with_worker
from connect_core.migration.report import ReportJson, examine
from connect_core.migration.steps import Sides, Step, next_step
from connect_core.migration.switching import Switch, WaitError
from connect_core.store import connectors, origins

__all__ = [
    "ImportReport",
    "Moved",
    "ReportWanted",
    "SwitchRound",
    "import_connector",
    "moved",
    "report_round",
    "switch_round",
]

Side = Literal["here", "there"]


@dataclass(frozen=True, slots=True)
class ReportWanted:
    """Which connectors: all, or those of ``names``; ``after``: only names behind this one.

    ``converters``: settings of the cluster's workers, for connectors without converters of their own.
    """

    names: Sequence[str] | None = None
    after: str = ""
    converters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Reports of a cluster's connectors in the order of their names; nothing was changed.

    ``total``: how many connectors the cluster has, or how many of those asked for. ``next``: ask again with it as
    ``after``, as the time was over; null after the last one.
    """

    address: str
    connectors: list[ReportJson]
    total: int
    next: str | None


def report_round(herder: Herder, api: ConnectApi, wanted: ReportWanted, seconds: float) -> ImportReport:
    """Report connectors until ``seconds`` are over, at least one. Raise NotFoundError for a name that is not there."""
    until = time.monotonic() + seconds
    everything = {one.name: one for one in api.connectors()}
    absent = sorted({*(wanted.names or ())} - everything.keys())
    if absent:
        raise NotFoundError(f"There is no connector {', '.join(absent)} at {api.address}")
    chosen = sorted(everything if wanted.names is None else {*wanted.names})
    known: dict[str, frozenset[str] | None] = {}
    reports: list[ReportJson] = []
    left = [name for name in chosen if name > wanted.after]
    for name in left:
        one = everything[name]
        plugin = one.config.get("connector.class", "")
        if plugin and plugin not in known:
            known[plugin] = api.settings_of(plugin)
        definition = with_worker(definition_of(one, api.address), wanted.converters)
        reports.append(examine(herder, definition, there_of(api, one, known)).to_json())
        if time.monotonic() >= until:
            break
    is_over = len(reports) == len(left)
    return ImportReport(api.address, reports, len(chosen), None if is_over else reports[-1]["name"])


def import_connector(
    herder: Herder,
    api: ConnectApi,
    name: str,
    converters: Mapping[str, str],
    check: Callable[[Definition], None] = lambda definition: None,
) -> Imported:
    """Create one connector of the cluster STOPPED here, with its offsets; idempotent.

    ``check`` may refuse its configuration. Raise NotFoundError if the cluster has none of this name, ConnectError.
    """
    definition = with_worker(definition_of(api.connector(name), api.address), converters)
    check(definition)
    return import_one(herder, definition, api)


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a connector came from and which side has its newest offsets; nulls for one that was created here.

    ``state``: during a switch, the state it had at the beginning and will have again.
    """

    connector: str
    url: str | None = None
    newest: Side | None = None
    state: str | None = None
    changed_at: datetime | None = None


def moved(herder: Herder, name: str) -> Moved:
    """Return what is stored about a connector's origin; the cluster is not asked. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = origins.find(connection, name)
    if found is None:
        return Moved(name)
    return Moved(name, found.url, _side(found.is_here), found.state, found.changed_at)


@dataclass(frozen=True, slots=True)
class SwitchRound:
    """A part of a switch. ``steps``: those done now; ``next``: the one to be done, null if nothing is left.

    ``waiting_for``: what did not end within the time, if anything. ``newest``: which side has the newest offsets.
    ``here`` and ``there``: the connector's state on both sides, with the number of tasks it still has there.
    ``differing``: on the way back, the settings with which it runs differently there.
    """

    connector: str
    url: str
    steps: list[Step]
    next: Step | None
    waiting_for: str | None
    newest: Side
    here: State
    there: str
    tasks_there: int
    differing: list[str]


def switch_round(switch: Switch) -> SwitchRound:
    """Carry out steps until ``switch.until``, or until one has to wait; with that time over, only look.

    Raise as ``Switch.run``, but for a wait.
    """
    steps: list[Step] = []
    waiting_for = None
    if time.monotonic() < switch.until:
        try:
            switch.run(steps.append)
        except WaitError as error:
            waiting_for = error.what
    return _round(switch, switch.sides(), steps, waiting_for)


def _round(switch: Switch, sides: Sides, steps: list[Step], waiting_for: str | None) -> SwitchRound:
    step = next_step(sides, is_back=switch.is_back)
    here = get_status(switch.herder, switch.name).connector.state
    return SwitchRound(
        switch.name,
        sides.origin.url,
        steps,
        None if step is Step.DONE else step,
        waiting_for,
        _side(sides.origin.is_here),
        here,
        sides.there.state,
        len(sides.there.tasks),
        differing_keys(switch.herder, sides) if switch.is_back else [],
    )


def _side(is_here: bool) -> Side:
    return "here" if is_here else "there"
