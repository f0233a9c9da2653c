"""Connectors: create, read, reconfigure, delete. Connect: the herder's part of ``ConnectorsResource``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from typing_extensions import TypedDict

from connect_core.errors import AlreadyExistsError, BadRequestError, ConnectError, NotFoundError, OvertakenError
from connect_core.herder.configuration import RawConfig, accept, named, patched, shown, shown_task
from connect_core.herder.context import Herder
from connect_core.herder.refusals import refusals
from connect_core.herder.rewriting import end_connector
from connect_core.herder.status import ConnectorStateInfo, compute_status
from connect_core.herder.switches import ensure_no_switch
from connect_core.interval.values import ConnectorState, ConnectorType, TargetState
from connect_core.java.strings import trim
from connect_core.registry import PluginKind, registry
from connect_core.store import audit, connectors, statuses
from connect_core.store.audit import Act
from connect_core.store.statuses import ConnectorFacts

__all__ = [
    "ConnectorInfo",
    "Expanded",
    "NewConnector",
    "TaskId",
    "TaskInfo",
    "create",
    "delete",
    "expand",
    "get_config",
    "get_info",
    "get_tasks",
    "list_names",
    "patch_config",
    "put_config",
]

_LOG = logging.getLogger(__name__)
_TRIES = 4
"""Of a change that other requests overtake."""
Changed = TypeVar("Changed")
_INITIAL_STATES = {
    "RUNNING": TargetState.STARTED,
    "PAUSED": TargetState.PAUSED,
    "STOPPED": TargetState.STOPPED,
}


@dataclass(frozen=True, slots=True)
class NewConnector:
    """The connector to create; ``initial_state``: RUNNING, PAUSED or STOPPED, in upper or lower case (KIP-980)."""

    name: str | None
    config: RawConfig
    initial_state: str | None = None


@dataclass(frozen=True, slots=True)
class TaskId:
    """A task of a connector."""

    connector: str
    task: int


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    """A connector with its configuration, secrets hidden."""

    name: str
    config: dict[str, str | None]
    tasks: list[TaskId]
    type: Literal["source", "sink"]


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task with its configuration, secrets hidden."""

    id: TaskId
    config: dict[str, str | None]


class Expanded(TypedDict, total=False):
    """A connector of an expanded list, as REST shows it."""

    status: ConnectorStateInfo
    info: ConnectorInfo


def create(herder: Herder, new: NewConnector) -> ConnectorInfo:
    """Create a connector; spaces around its name are left out. Raise BadRequestError, AlreadyExistsError."""
    return _create(herder, trim(new.name or ""), new.config, _target(new.initial_state))


def _create(herder: Herder, name: str, config: RawConfig, target: TargetState) -> ConnectorInfo:
    with refusals(herder, "create", name):
        accepted = accept(herder, name, named(name, config))
    with herder.database.write() as connection:
        connectors.create(connection, name, accepted, target)
        audit.record(connection, Act(herder.actor, "create", name, None, _visible(accepted.config)))
    herder.ask("deploy", name)
    if target is not TargetState.STARTED:
        herder.ask("pause", name)
    return _info(name, accepted.type, accepted.config, 0)


def put_config(
    herder: Herder, name: str, config: RawConfig, before_creating: Callable[[], object] | None = None
) -> tuple[bool, ConnectorInfo]:
    """Store a configuration, creating the connector if needed → whether it is new, and its present state.

    ``before_creating`` may refuse that. Raise BadRequestError, OvertakenError.
    """

    def put() -> tuple[bool, ConnectorInfo]:
        stored = _find(herder, name)
        if stored is not None:
            try:
                return False, _replace(herder, stored, named(name, config))
            except NotFoundError as error:
                raise OvertakenError(f"{error}: another request deleted it meanwhile. Try again") from error
        if before_creating is not None:
            before_creating()
        try:
            return True, _create(herder, name, config, TargetState.STARTED)
        except AlreadyExistsError as error:
            raise OvertakenError(f"{error}: another request created it meanwhile. Try again") from error

    return _repeated(put)


def patch_config(herder: Herder, name: str, patch: RawConfig) -> ConnectorInfo:
    """Replace some settings; null removes one (KIP-477). Raise NotFoundError, BadRequestError, OvertakenError."""

    def change() -> ConnectorInfo:
        stored = _find(herder, name)
        if stored is None:
            raise _not_found(name)
        return _replace(herder, stored, patched(stored.config, patch))

    return _repeated(change)


def _repeated(change: Callable[[], Changed]) -> Changed:
    """Make a change; make it again, of what is there then, where another request came first."""
    for _ in range(_TRIES - 1):
        try:
            return change()
        except OvertakenError:
            continue
    return change()


def _replace(herder: Herder, stored: ConnectorState, config: RawConfig) -> ConnectorInfo:
    name = stored.name
    with refusals(herder, "configure", name):
        accepted = accept(herder, name, config, stored.config)
    with herder.database.write() as connection:
        ensure_no_switch(herder, connection, name, "reconfigured")
        connectors.replace_config(connection, stored, accepted)
        tasks = connectors.list_task_configs(connection, name)
        states = _visible(stored.config), _visible(accepted.config)
        audit.record(connection, Act(herder.actor, "configure", name, *states))
    if _schedule(stored.config) != _schedule(accepted.config) or stored.type is not accepted.type:
        herder.ask("deploy", name)
    if stored.failure is not None and stored.target_state is TargetState.STARTED:
        herder.ask("retry", name)
    return _info(name, accepted.type, accepted.config, len(tasks))


def _schedule(config: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that shape the connector's DAG; all others are read by each run."""
    return {key: value for key, value in config.items() if key == "schedule" or key.startswith("schedule.")}


def delete(herder: Herder, name: str, *, forget_offsets: bool = False, abandon_switch: bool = False) -> None:
    """Delete a connector; what its run has not committed by now is never committed.

    Its offsets are kept for a connector of the same name, unless ``forget_offsets``. ``abandon_switch``: delete it
    also in the middle of a switch, such as from a cluster that is gone. Raise NotFoundError, IllegalWorkerStateError;
    ConnectError where offsets cannot be forgotten: it then is in the state it had, or in that which
    another request has given it meanwhile.
    """
    with herder.database.write() as connection:
        if not abandon_switch:
            ensure_no_switch(herder, connection, name, "deleted")
        stop = connectors.halt(connection, name)
    try:
        end_connector(herder, name, forget_offsets=forget_offsets)
    except ConnectError:
        if stop is not None:
            _go_on(herder, name, stop)
        raise
    with herder.database.write() as connection:
        before = connectors.get(connection, name)
        connectors.delete(connection, name, forget_offsets=forget_offsets)
        left = {"offsets": "forgotten" if forget_offsets else "kept"}
        audit.record(connection, Act(herder.actor, "delete", name, _visible(before.config), left))
    herder.ask("remove", name)


def _go_on(herder: Herder, name: str, stop: connectors.Halt) -> None:
    """Let a connector that was not deleted go on, unless another request has changed it: that one decides."""
    with herder.database.write() as connection:
        if not connectors.undo_halt(connection, name, stop):
            _LOG.warning("Connector %s was not deleted, and keeps what another request has made of it", name)


def list_names(herder: Herder) -> list[str]:
    """Return the names of all connectors."""
    with herder.database.read() as connection:
        return connectors.list_names(connection)


def expand(herder: Herder, wanted: Collection[str]) -> dict[str, Expanded]:
    """Return all connectors with their ``status`` and ``info``, as wanted; unknown words are ignored."""
    with herder.database.read() as connection:
        facts = statuses.load_facts(connection)
    return {one.name: _expanded(one, wanted, herder.worker_id) for one in facts}


def _expanded(facts: ConnectorFacts, wanted: Collection[str], worker_id: str) -> Expanded:
    shown = Expanded()
    if "status" in wanted:
        shown["status"] = compute_status(facts, worker_id).to_json()
    if "info" in wanted:
        shown["info"] = _info_of(facts)
    return shown


def _info_of(facts: ConnectorFacts) -> ConnectorInfo:
    return _info(facts.name, facts.type, facts.config, facts.task_count or 0)


def get_info(herder: Herder, name: str) -> ConnectorInfo:
    """Return a connector. Raise NotFoundError."""
    with herder.database.read() as connection:
        for facts in statuses.load_facts(connection, [name]):
            return _info_of(facts)
    raise _not_found(name)


def get_config(herder: Herder, name: str) -> dict[str, str | None]:
    """Return a connector's configuration, secrets hidden. Raise NotFoundError."""
    with herder.database.read() as connection:
        return shown(connectors.get(connection, name).config)


def get_tasks(herder: Herder, name: str) -> list[TaskInfo]:
    """Return the task configs of the last plan, secrets hidden. Raise NotFoundError."""
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        configs = connectors.list_task_configs(connection, name)
    shared = {"task.class": _task_class(state.config)} if configs else {}
    return [
        TaskInfo(TaskId(name, task), {**shared, **shown_task(config, state.config)})
        for task, config in enumerate(configs)
    ]


def _task_class(config: Mapping[str, str]) -> str:
    """Return the full name of the task class, in the package of the connector's, as Connect would write it."""
    plugin = registry().find(PluginKind.CONNECTOR, config["connector.class"].strip())
    task: type = plugin.create().task_class()
    package = plugin.name.rpartition(".")[0] or task.__module__
    return f"{package}.{task.__name__}"


def _target(initial_state: str | None) -> TargetState:
    state = (initial_state or "RUNNING").upper()
    if state not in _INITIAL_STATES:
        raise BadRequestError(f"initial_state {initial_state} is none of {', '.join(_INITIAL_STATES)}")
    return _INITIAL_STATES[state]


def _find(herder: Herder, name: str) -> ConnectorState | None:
    with herder.database.read() as connection:
        return connectors.find(connection, name)


def _info(name: str, kind: ConnectorType, config: Mapping[str, str], tasks: int) -> ConnectorInfo:
    ids = [TaskId(name, task) for task in range(tasks)]
    return ConnectorInfo(name, shown(config), ids, "source" if kind is ConnectorType.SOURCE else "sink")


def _not_found(name: str) -> NotFoundError:
    return NotFoundError(f"Connector {name} not found")


def _visible(config: Mapping[str, str]) -> dict[str, Any]:
    return {"config": shown(config)}
