"""Offsets: read, alter and reset (KIP-875); altering needs a stopped connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from connect_core.api.connector import Connector
from connect_core.api.offsets import canonical, parse
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkConnector
from connect_core.api.source import SourceConnector
from connect_core.configs import Redaction
from connect_core.errors import BadRequestError, ConnectError, IllegalWorkerStateError
from connect_core.herder.context import Herder
from connect_core.herder.sink_offsets import parse_sink_offsets
from connect_core.herder.switches import ensure_no_switch
from connect_core.interval.values import ConnectorState, ConnectorType, TargetState
from connect_core.java_plugins.redaction import redacting
from connect_core.registry import PluginKind, registry
from connect_core.store import audit, connectors, offsets
from connect_core.store.audit import Act
from connect_core.store.offsets import Changes, OffsetMove

__all__ = [
    "MOVES",
    "ConnectorOffset",
    "ConnectorOffsets",
    "OffsetEntry",
    "OffsetMoveList",
    "alter",
    "as_connector_offsets",
    "get",
    "list_moves",
    "parse_wanted",
    "reset",
]


_ALTER, _RESET = "alter offsets", "reset offsets"
MOVES = frozenset((_ALTER, _RESET))
"""The audit's names of changes of offsets; such an act has all offsets before and after it."""

OffsetEntry = Mapping[str, Any]
"""A ``ConnectorOffset`` as it was sent, not checked yet."""


class ConnectorOffset(TypedDict):
    """One partition and its offset; a null offset forgets the partition."""

    partition: dict[str, Any]
    offset: dict[str, Any] | None


class ConnectorOffsets(TypedDict):
    """Offsets of a connector, in requests and responses of REST."""

    offsets: list[ConnectorOffset]


_DONE = {
    True: "The offsets for this connector have been {done} successfully",
    False: "The Connect framework-managed offsets for this connector have been {done} successfully. However, if this "
    "connector manages offsets externally, they will need to be manually {done} in the system that the connector uses.",
}


def get(herder: Herder, name: str) -> list[ConnectorOffset]:
    """Return a connector's offsets in Connect's form, sorted by partition. Raise NotFoundError."""
    with herder.database.read() as connection:
        kind = connectors.get(connection, name).type
        stored = offsets.load(connection, name, kind)
    return as_connector_offsets(stored)


def as_connector_offsets(stored: Changes) -> list[ConnectorOffset]:
    """Return offsets by canonical JSON of their partition in Connect's form, sorted by partition."""
    return [
        {"partition": parse(partition), "offset": None if offset is None else dict(offset)}
        for partition, offset in sorted(stored.items())
    ]


@dataclass(frozen=True, slots=True)
class OffsetMoveList:
    """Moves of offsets, the newest first; ``next`` is used as in a page of intervals."""

    moves: list[OffsetMove]
    next: int | None


def list_moves(herder: Herder, name: str, limit: int = 100, before: int | None = None) -> OffsetMoveList:
    """Return a page of the history of a connector's offsets. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = offsets.history(connection, name, limit + 1, before)
    return OffsetMoveList(found[:limit], found[limit - 1].id if len(found) > limit else None)


def alter(herder: Herder, name: str, entries: Sequence[OffsetEntry]) -> str:
    """Alter offsets of a stopped connector → the message for the user.

    Raise NotFoundError; BadRequestError unless STOPPED and for bad sink
    offsets; IllegalWorkerStateError during a switch; ConnectError if the connector refuses.
    """
    if not entries:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    state = _stopped(herder, name)
    connector = _connector(state)
    if isinstance(connector, SinkConnector):
        positions = parse_sink_offsets(entries)
        with _redacting(herder, state):
            is_followed = connector.alter_offsets(_resolved(herder, state), positions)
        _check_positions(name, positions)
        wanted: Changes = offsets.sink_offsets(positions)
    else:
        wanted = _source_changes(entries)
        is_followed = _alter_source(herder, state, connector, wanted)
    _rewrite(herder, name, wanted)
    return _DONE[is_followed].format(done="altered")


def parse_wanted(kind: ConnectorType, entries: Sequence[OffsetEntry]) -> Changes:
    """Convert entries to changes of offsets for a connector of this type. Raise BadRequestError, ConnectError."""
    return offsets.sink_offsets(parse_sink_offsets(entries)) if kind is ConnectorType.SINK else _source_changes(entries)


def reset(herder: Herder, name: str) -> str:
    """Reset all offsets of a stopped connector → the message for the user.

    Raise NotFoundError, BadRequestError unless STOPPED, IllegalWorkerStateError during a switch, ConnectError if
    the connector refuses.
    """
    state = _stopped(herder, name)
    with herder.database.read() as connection:
        stored = offsets.load(connection, name, state.type)
    connector = _connector(state)
    if isinstance(connector, SinkConnector):
        gone: dict[TopicPartition, int | None] = dict.fromkeys(offsets.sink_positions(stored))
        with _redacting(herder, state):
            is_followed = connector.alter_offsets(_resolved(herder, state), gone)
    else:
        is_followed = _alter_source(herder, state, connector, dict.fromkeys(stored))
    _rewrite(herder, name, None)
    return _DONE[is_followed].format(done="reset")


def _stopped(herder: Herder, name: str) -> ConnectorState:
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        ensure_no_switch(herder, connection, name, "given other offsets")
    if state.target_state is not TargetState.STOPPED:
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
        )
    return state


def _connector(state: ConnectorState) -> Connector:
    made: Connector = registry().create(PluginKind.CONNECTOR, state.config["connector.class"].strip())
    return made


def _resolved(herder: Herder, state: ConnectorState) -> dict[str, str]:
    return herder.providers.resolve(state.config, state.name)


def _redacting(herder: Herder, state: ConnectorState) -> AbstractContextManager[None]:
    return redacting(Redaction(state.config, herder.providers, state.name).texts)


def _alter_source(herder: Herder, state: ConnectorState, connector: Connector, wanted: Changes) -> bool:
    if not isinstance(connector, SourceConnector):
        raise ConnectError(f"Connector {state.name} is neither a source nor a sink")
    with _redacting(herder, state):
        return connector.alter_offsets(_resolved(herder, state), wanted)


def _source_changes(entries: Sequence[OffsetEntry]) -> dict[str, Mapping[str, Any] | None]:
    # An entry with neither partition nor offset is not an error, as in Connect.
    given = [entry for entry in entries if entry.get("partition") is not None or entry.get("offset") is not None]
    for entry in given:
        if not isinstance(entry.get("partition"), Mapping):
            # In Connect the connector refuses it or the worker fails: 500, as for other refused partitions.
            raise ConnectError("Partition objects cannot be null")
        for part in (entry["partition"], entry.get("offset") or {}):
            _check_primitive(part)
    return {canonical(entry["partition"]): entry.get("offset") for entry in given}


def _check_primitive(values: Mapping[str, Any]) -> None:
    """Raise ConnectError unless all values are primitive. Connect: ``OffsetUtils.validateFormat``."""
    for field, value in values.items():
        is_number = isinstance(value, int) and -(2**63) <= value < 2**63
        if not (value is None or is_number or isinstance(value, str | float)):
            kind = type(value).__name__ if not isinstance(value, int) else "a number of more than 64 bits"
            raise ConnectError(f"Offsets may only contain primitive types as values, but field {field} contains {kind}")


def _check_positions(name: str, positions: Mapping[TopicPartition, int | None]) -> None:
    if any(part.partition < 0 or (offset is not None and offset < 0) for part, offset in positions.items()):
        raise ConnectError(f"Failed to alter consumer group offsets for connector {name}")


def _rewrite(herder: Herder, name: str, wanted: Changes | None) -> None:
    before = get(herder, name)
    try:
        herder.rewrite_offsets(herder, name, wanted)
    except IllegalWorkerStateError as error:
        raise BadRequestError(str(error)) from error
    act = _RESET if wanted is None else _ALTER
    with herder.database.write() as connection:
        stored = offsets.load(connection, name, connectors.get(connection, name).type)
        after = as_connector_offsets(stored)
        audit.record(connection, Act(herder.actor, act, name, {"offsets": before}, {"offsets": after}))
