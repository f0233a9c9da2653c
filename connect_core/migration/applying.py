"""Applies a folder of connectors: differences are planned first, then changed; idempotent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from connect_core.configs.providers import ConfigProviders
from connect_core.configs.secrets import HIDDEN, is_sealed, keep_hidden, mask, sensitive_keys
from connect_core.errors import ConnectError
from connect_core.herder import connectors as herder_connectors
from connect_core.herder import lifecycle
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.herder.preflight import preflight
from connect_core.herder.switches import ensure_no_switch
from connect_core.interval.values import ConnectorState, TargetState
from connect_core.migration.definitions import Definition
from connect_core.migration.importing import changed_keys, opened_config
from connect_core.store import connectors, origins

__all__ = [
    "Action",
    "Applied",
    "Change",
    "KeyDifference",
    "apply_change",
    "deletes_all",
    "kept_stopped",
    "plan",
    "problem_of",
]

_TARGETS = {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED, "STOPPED": TargetState.STOPPED}
_WORDS = {target: word for word, target in _TARGETS.items()}
_ACTS = {"PAUSED": lifecycle.pause, "STOPPED": lifecycle.stop}


class Action(Enum):
    """The kinds of changes of a connector; the values are Terraform's signs."""

    CREATE = "+"
    UPDATE = "~"
    DELETE = "-"


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """One setting that differs, for display: ``None`` if it is not set, secrets hidden."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One connector that differs; ``state``: its new state, if that differs too."""

    name: str
    action: Action
    differences: tuple[KeyDifference, ...] = ()
    state: str | None = None
    wanted: Definition | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that was made, or the error that prevented it."""

    change: Change
    error: str | None = None


def plan(herder: Herder, wanted: Iterable[Definition], *, is_pruned: bool = False) -> list[Change]:
    """Return the changes needed, sorted by name; applies none. ``is_pruned``: delete connectors not in ``wanted``.

    The state of a connector that has not been switched over is no difference: see ``kept_stopped``.
    """
    kept = frozenset(kept_stopped(herder, wanted := list(wanted)))
    by_name = {one.name: replace(one, is_state_kept=False) if one.name in kept else one for one in wanted}
    with herder.database.read() as connection:
        stored = {name: connectors.get(connection, name) for name in connectors.list_names(connection)}
    changes = [_change(herder.providers, one, stored.get(name)) for name, one in by_name.items()]
    found = [one for one in changes if one is not None]
    if is_pruned:
        found += [_deletion(state) for name, state in stored.items() if name not in by_name]
    return sorted(found, key=lambda one: one.name)


def kept_stopped(herder: Herder, wanted: Iterable[Definition]) -> list[str]:
    """Return the connectors whose files would start them here while they may run in their cluster.

    They were imported and not switched over, or are being switched: only a switch may start them.
    """
    with herder.database.read() as connection:
        elsewhere = origins.unswitched(connection)
        started = [one.name for one in wanted if one.is_state_kept and one.state != "STOPPED" and one.name in elsewhere]
        found = {name: connectors.find(connection, name) for name in started}
    return sorted(
        name for name, state in found.items() if state is not None and state.target_state is TargetState.STOPPED
    )


def deletes_all(herder: Herder, changes: Iterable[Change]) -> bool:
    """Whether no connector that is here now would be left: probably the folder is that of another deployment."""
    deleted = {one.name for one in changes if one.action is Action.DELETE}
    with herder.database.read() as connection:
        return bool(deleted) and deleted.issuperset(connectors.list_names(connection))


def _change(providers: ConfigProviders, one: Definition, state: ConnectorState | None) -> Change | None:
    if state is None:
        return Change(one.name, Action.CREATE, _differences({}, one.config), one.state or "RUNNING", one)
    before = opened_config(providers, state)
    # A hidden value that is written back keeps the stored one.
    after = {key: before.get(key, value) if value == HIDDEN else value for key, value in one.config.items()}
    # Once opened, it could not be told from other values where the plugin that defines it is not installed.
    sealed = frozenset(key for key, value in state.config.items() if is_sealed(value))
    differences = _differences(before, after, sealed)
    target = one.state if one.is_state_kept and _TARGETS[one.state or "RUNNING"] is not state.target_state else None
    if not differences and target is None:
        return None
    return Change(one.name, Action.UPDATE, differences, target, one)


def _deletion(state: ConnectorState) -> Change:
    config = {key: value for key, value in state.config.items() if key != "name"}
    return Change(state.name, Action.DELETE, _differences(config, {}), _WORDS[state.target_state])


def _differences(
    before: Mapping[str, str], after: Mapping[str, str], secret: frozenset[str] = frozenset()
) -> tuple[KeyDifference, ...]:
    # Hidden if either side marks it: a class that no longer exists cannot tell which of its settings are secrets.
    hidden = secret | sensitive_keys(before) | sensitive_keys(after)
    old, new = ({**mask(one), **dict.fromkeys(hidden & one.keys(), HIDDEN)} for one in (before, after))
    return tuple(KeyDifference(key, old.get(key), new.get(key)) for key in changed_keys(before, after))


def problem_of(herder: Herder, change: Change) -> str | None:
    """Return what prevents a change: a switch in progress, or validation errors; ``None`` if nothing does."""
    if (disturbed := _disturbed(herder, change)) is not None:
        return disturbed
    if change.wanted is None or not (change.differences or change.action is Action.CREATE):
        return None
    try:
        with herder.database.read() as connection:
            state = connectors.find(connection, change.name)
        given = {"name": change.name, **change.wanted.config}
        infos = preflight(herder, keep_hidden(given, {} if state is None else state.config))
    except ConnectError as error:
        return str(error)
    return "; ".join(f"{key}: {' '.join(found)}" for key, found in infos.errors().items()) or None


def _disturbed(herder: Herder, change: Change) -> str | None:
    act = "deleted" if change.action is Action.DELETE else "changed"
    try:
        with herder.database.read() as connection:
            ensure_no_switch(herder, connection, change.name, act)
    except ConnectError as error:
        return str(error)
    return None


def apply_change(herder: Herder, change: Change) -> Applied:
    """Make one change; errors are returned, so that the others are still made."""
    try:
        _apply(herder, change)
    except ConnectError as error:
        return Applied(change, str(error))
    return Applied(change)


def _apply(herder: Herder, change: Change) -> None:
    if change.action is Action.DELETE or change.wanted is None:
        herder_connectors.delete(herder, change.name)
    elif change.action is Action.CREATE:
        herder_connectors.create(herder, NewConnector(change.name, change.wanted.config, change.state))
    else:
        _update(herder, change, change.wanted.config)


def _update(herder: Herder, change: Change, config: Mapping[str, str]) -> None:
    """A connector is stopped before it is given its configuration, and started after it: no run is of both."""
    if change.state in ("PAUSED", "STOPPED"):
        _ACTS[change.state](herder, change.name)
    if change.differences:
        herder_connectors.put_config(herder, change.name, config)
    if change.state == "RUNNING":
        lifecycle.resume(herder, change.name)
