"""Creates connectors from elsewhere here, STOPPED, with their offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from connect_core.configs.providers import ConfigProviders
from connect_core.configs.secrets import HIDDEN, is_sealed
from connect_core.errors import AlreadyExistsError, ConnectError
from connect_core.herder import connectors as herder_connectors
from connect_core.herder import offsets as herder_offsets
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorState, ConnectorType, TargetState
from connect_core.migration.connect_api import ConnectApi, ConnectorThere, OffsetEntries, offset_map
from connect_core.migration.definitions import Definition
from connect_core.migration.report import There
from connect_core.store import audit, connectors, origins
from connect_core.store.audit import Act
from connect_core.store.origins import OriginRow

__all__ = [
    "CONVERTERS",
    "Imported",
    "Outcome",
    "SourceOffsets",
    "changed_keys",
    "definition_of",
    "import_all",
    "import_one",
    "opened",
    "opened_config",
    "there_of",
    "with_worker",
]

_OTHER_OFFSETS = (
    "it keeps the offsets it has here, which differ from those in its cluster's offsets topic. Unless it has run here "
    "since it left the cluster, they are old: connect delete {name} --forget-offsets, then import it again"
)
CONVERTERS = ("key.converter", "value.converter", "header.converter")


class Outcome(Enum):
    """The outcome of importing one connector."""

    CREATED = "created"
    COMPLETED = "completed"
    """It was created before, and its offsets were stored now."""
    UNCHANGED = "unchanged"
    DIFFERENT = "left alone"
    """A connector of that name exists here with another configuration or, of an offsets topic's, other offsets."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of one connector, the reason, and how many offsets were stored."""

    name: str
    outcome: Outcome
    why: str = ""
    offsets: int = 0


def definition_of(one: ConnectorThere, address: str) -> Definition:
    """Return a connector of a cluster as a definition."""
    return Definition(one.name, one.config, one.state, place=address)


def there_of(api: ConnectApi, one: ConnectorThere, known_keys: Mapping[str, frozenset[str] | None]) -> There:
    """Return what only the cluster knows of a connector; ``known_keys``: the settings of plugins there, by class."""
    return There(
        one.type, one.state, one.tasks, api.topics(one.name), known_keys.get(one.config.get("connector.class", ""))
    )


def with_worker(one: Definition, worker: Mapping[str, str]) -> Definition:
    """Return a definition with the converters of its cluster's workers, where it has none of its own.

    Connect ignores a connector's settings of a converter whose class it does not name. They are left out, since they
    would now be those of the workers' converter.
    """
    own, notes = dict(one.config), list(one.notes)
    for converter in CONVERTERS:
        if converter in one.config or converter not in worker:
            continue
        for key in [key for key in own if key.startswith(f"{converter}.")]:
            del own[key]
            notes.append(f"{key} is left out: it has no effect there, as the connector does not set {converter} itself")
        own |= {key: value for key, value in worker.items() if key == converter or key.startswith(f"{converter}.")}
    return replace(one, config=own, notes=tuple(notes))


class SourceOffsets(Protocol):
    """A source of offsets other than the REST API."""

    def of(self, connector: str) -> OffsetEntries:
        """Return the offsets of a source connector; empty if it has none. Raise ConnectError."""


def import_one(herder: Herder, one: Definition, api: ConnectApi | None, topic: SourceOffsets | None = None) -> Imported:
    """Create a connector STOPPED, with its offsets if it comes from a cluster; idempotent.

    Positions of a sink are stored only if it is STOPPED there: until then its consumer group has members, and
    ``switch`` stores them. ``topic``: read offsets of sources from there, not by the REST API. Raise ConnectError.
    """
    state = _find(herder, one.name)
    if state is not None:
        before = opened_config(herder.providers, state)
        # As for apply: a hidden value stands for the stored one.
        wanted = {key: before.get(key, value) if value == HIDDEN else value for key, value in one.config.items()}
        different = changed_keys(before, wanted)
        if different:
            return Imported(
                one.name, Outcome.DIFFERENT, f"it exists here with different values of {', '.join(different)}"
            )
    is_new = state is None and _create(herder, one)
    moved, why = 0, ""
    if (api is not None or topic is not None) and _is_fresh(herder, one.name, api):
        if not herder_offsets.get(herder, one.name):
            moved, why = _fill(herder, one, api, topic)
        elif topic is not None and _is_behind(herder, one.name, topic):
            return Imported(one.name, Outcome.DIFFERENT, _OTHER_OFFSETS.format(name=one.name))
    outcome = Outcome.CREATED if is_new else Outcome.COMPLETED if moved else Outcome.UNCHANGED
    return Imported(one.name, outcome, why, moved)


def _find(herder: Herder, name: str) -> ConnectorState | None:
    with herder.database.read() as connection:
        return connectors.find(connection, name)


def _create(herder: Herder, one: Definition) -> bool:
    try:
        herder_connectors.create(herder, NewConnector(one.name, one.config, "STOPPED"))
    except AlreadyExistsError:
        # It was created concurrently: its configuration is compared at the next call.
        return False
    return True


def _is_fresh(herder: Herder, name: str, api: ConnectApi | None) -> bool:
    """Record the cluster it comes from → whether it is STOPPED here, and was not switched over."""
    with herder.database.write() as connection:
        state = connectors.get(connection, name)
        known = origins.find(connection, name)
        is_fresh = state.target_state is TargetState.STOPPED and (known is None or not known.is_here)
        if api is not None and known is None and is_fresh:
            origins.record(connection, name, OriginRow(api.address, is_here=False))
            audit.record(connection, Act(herder.actor, "import", name, None, {"url": api.address}))
    return is_fresh


def _is_behind(herder: Herder, name: str, topic: SourceOffsets) -> bool:
    """Whether a source has other offsets here than in the topic; no switch will take those over later."""
    state = _find(herder, name)
    if state is None or state.type is not ConnectorType.SOURCE:
        return False
    there = offset_map(topic.of(name))
    return bool(there) and offset_map(herder_offsets.get(herder, name)) != there


def _fill(herder: Herder, one: Definition, api: ConnectApi | None, topic: SourceOffsets | None) -> tuple[int, str]:
    state = _find(herder, one.name)
    is_source = state is not None and state.type is ConnectorType.SOURCE
    if topic is not None and is_source:
        entries, place = topic.of(one.name), "in its cluster's offsets topic"
    elif api is None:
        return 0, "it is a sink: its positions are in its consumer group"
    else:
        if not is_source and not (there := api.status(one.name)).is_stopped:
            return 0, f"it is {there.state} there: its positions will be stored when it is switched over"
        entries, place = api.offsets(one.name), "there"
    if not entries:
        return 0, f"it has no offsets {place}"
    herder_offsets.alter(herder, one.name, entries)
    return len(entries), ""


def opened_config(providers: ConfigProviders, state: ConnectorState) -> dict[str, str]:
    """Return a stored configuration as it was given: sealed values opened, references as written; no ``name``."""
    return opened(providers, state.name, state.config)


def opened(providers: ConfigProviders, name: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return any version of a connector's stored configuration as ``opened_config``."""
    return {
        key: providers.resolve({key: value}, name)[key] if is_sealed(value) else value
        for key, value in config.items()
        if key != "name"
    }


def changed_keys(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the keys in which two configurations differ, without ``name``."""
    return sorted(key for key in {*one, *other} if key != "name" and one.get(key) != other.get(key))


def import_all(
    herder: Herder, wanted: Iterable[Definition], api: ConnectApi | None, topic: SourceOffsets | None = None
) -> Iterator[Imported]:
    """Import connectors lazily, as the results are consumed; a failure does not affect the others."""
    return (_guarded(herder, one, api, topic) for one in wanted)


def _guarded(herder: Herder, one: Definition, api: ConnectApi | None, topic: SourceOffsets | None) -> Imported:
    try:
        return import_one(herder, one, api, topic)
    except ConnectError as error:
        return Imported(one.name, Outcome.FAILED, str(error))
