"""Servers with three Kafka brokers in place of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from connect_core.effects.group_owner import ensure_group_owned
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.status import State, list_statuses
from tests.faults.airflow_world import AirflowWorld
from tests.faults.brokers import Brokers
from tests.faults.world import World
from tests.integration.topics import Topics

__all__ = ["AirflowBrokersWorld", "BrokersWorld", "Seen", "seeing"]

_REPLICATION: Mapping[str, str] = MappingProxyType(
    {"CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR": "3", "CONNECT_STATUS_STORAGE_REPLICATION_FACTOR": "3"}
)


@dataclass(slots=True)
class BrokersWorld(World):
    """A world whose Kafka is three brokers, to which clients connect without a proxy."""

    services: tuple[str, ...] = ("postgres", "spark")
    pause_seconds: float = 1.0
    """Lines must come for as long as brokers go and come back."""
    brokers: Brokers = field(init=False)

    def __enter__(self) -> BrokersWorld:
        """Start the brokers, then the servers."""
        _start(self, World)
        return self


@dataclass(slots=True)
class AirflowBrokersWorld(AirflowWorld):
    """The whole stack with three brokers; its own single broker is started and not used."""

    brokers: Brokers = field(init=False)

    def __enter__(self) -> AirflowBrokersWorld:
        """Start the brokers, then the servers."""
        _start(self, AirflowWorld)
        return self


def _start(world: BrokersWorld | AirflowBrokersWorld, kind: type[World]) -> None:
    try:
        world.brokers = world._open.enter_context(Brokers(world.folder / "brokers"))
        world.settings = {**world.settings, **_REPLICATION, "CONNECT_BOOTSTRAP_SERVERS": world.brokers.bootstrap}
        kind.__enter__(world)
    except BaseException:
        world._open.close()
        raise
    world.topics = Topics(world.brokers.bootstrap, replicas=3)
    # As a deployment's service does: drivers that claim the group at their start would fence each other.
    ensure_group_owned(world.herder.worker, world.database)


@dataclass(slots=True)
class Seen:
    """What statuses showed over a time: the states of connectors and tasks, and the reasons of stalls, by cause."""

    states: set[State] = field(default_factory=set)
    traces: set[str] = field(default_factory=set)
    stalls: dict[str, str] = field(default_factory=dict)

    def look(self, herder: Herder, names: Collection[str]) -> None:
        """Take note of what is shown now."""
        for status in list_statuses(herder, names).values():
            parts = (status.connector, *status.tasks)
            self.states |= {part.state for part in parts}
            self.traces |= {
                f"{status.name}: {(part.trace or '')[-1500:]}" for part in parts if part.state is State.FAILED
            }
            if status.stall is not None:
                self.stalls[status.stall.cause.value] = status.stall.reason


@contextmanager
def seeing(herder: Herder, names: Collection[str], then: Callable[[Seen], None] = lambda seen: None) -> Iterator[Seen]:
    """Look at the statuses twice a second while the block runs; ``then`` is told what was seen."""
    seen, over = Seen(), threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            with suppress(ConnectError):
                seen.look(herder, names)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join(30)
        then(seen)
