"""Writers that meet wait for each other; none is ended as a deadlock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from connect_core.api.sink import IntervalKey
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import CommitInterval
from connect_core.interval.values import TargetState
from connect_core.store import Connection, connectors, dag_states, requests, restarts
from connect_core.store.dag_states import Dag
from connect_core.store.requests import Asked
from tests.store.harness import Harness, race

NAMES = ("a", "b", "c")


def _mirror(connection: Connection) -> None:
    dag_states.store(connection, [Dag(name, f"{name}-1", False) for name in NAMES])
    connectors.set_target_state(connection, "a", TargetState.STARTED)


def _pause(connection: Connection) -> None:
    dag_states.set_paused(connection, "a", True)
    connectors.set_target_state(connection, "a", TargetState.PAUSED)


def _restart(connection: Connection) -> None:
    connectors.lock(connection, "a")
    restarts.ask(connection, "a", [0, restarts.CONNECTOR])
    requests.add(connection, Asked("retry", "a"))


def _drive(harness: Harness, epoch: int) -> None:
    sequence = 1
    for _ in range(15):
        key = IntervalKey("a", 1, sequence, epoch)
        try:
            harness.insert(key)
        except StaleEpochError as refusal:
            # An operator was faster.
            if "PAUSED" not in str(refusal):
                raise
            continue
        harness.effects.heartbeat(key, epoch)
        harness.do(CommitInterval(key, epoch, ()))
        sequence += 1


def test_operators_mirror_and_driver_meet(harness: Harness) -> None:
    for name in NAMES:
        harness.create(name)
    epoch = harness.drive("a")

    def repeat(act: Callable[[Connection], None]) -> Callable[[], None]:
        def loop() -> None:
            for _ in range(15):
                with harness.database.write() as connection:
                    act(connection)

        return loop

    loops: list[Callable[[], None]] = [
        repeat(_mirror),
        repeat(_pause),
        repeat(_restart),
        partial(_drive, harness, epoch),
    ]
    assert race(len(loops), lambda number: loops[number]()) == [None] * 4
