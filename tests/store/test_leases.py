"""Leases by the database's clock, and the epoch: of racers exactly one wins."""

from __future__ import annotations

import time

import pytest

from connect_core.errors import LeaseLostError, NotFoundError, StaleEpochError
from connect_core.interval.effects import RaiseEpoch, ReleaseLease, TakeLease
from connect_core.interval.values import TargetState
from connect_core.store import leases
from tests.store.worlds import World, race


def test_lease_is_exclusive_while_valid(world: World) -> None:
    world.create()
    assert world.do(TakeLease("c", "one", 60)).name == "c"
    assert world.do(TakeLease("c", "two", 60)) is None
    assert world.do(TakeLease("c", "one", 60)) is not None


def test_released_lease_is_free(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    world.do(ReleaseLease("c", "two"))
    assert world.do(TakeLease("c", "two", 60)) is None
    world.do(ReleaseLease("c", "one"))
    assert world.do(TakeLease("c", "two", 60)) is not None


def test_expired_lease_is_taken_over(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    assert world.do(TakeLease("c", "two", 60)) is None
    assert world.effects.renew_lease("c", "one", 0.2)
    deadline = time.monotonic() + 10
    while world.do(TakeLease("c", "two", 60)) is None:
        assert time.monotonic() < deadline
    assert not world.effects.renew_lease("c", "one", 60)
    assert world.effects.renew_lease("c", "two", 60)


def test_renewed_lease_lasts_longer(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 0.1))
    assert world.effects.renew_lease("c", "one", 60)
    assert world.do(TakeLease("c", "two", 60)) is None


def test_lease_of_unknown_connector_is_refused(world: World) -> None:
    with pytest.raises(NotFoundError, match="Connector c not found"):
        world.do(TakeLease("c", "one", 60))
    world.create()
    world.delete()
    with pytest.raises(NotFoundError):
        world.do(TakeLease("c", "one", 60))


def test_lease_race_has_one_winner(world: World) -> None:
    world.create()
    results = race(8, lambda number: world.do(TakeLease("c", f"holder-{number}", 60)))
    assert len([one for one in results if one is not None]) == 1


def test_epoch_rises_above_its_floor(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    assert world.do(RaiseEpoch("c", "one")) == 1
    assert world.do(RaiseEpoch("c", "one", floor=7)) == 8
    assert world.do(RaiseEpoch("c", "one", floor=7)) == 9


def test_epoch_race_gives_different_epochs(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    assert sorted(race(6, lambda number: world.do(RaiseEpoch("c", "one")))) == [1, 2, 3, 4, 5, 6]


def test_epoch_needs_the_lease(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    with pytest.raises(LeaseLostError, match="held by one, no longer by two"):
        world.do(RaiseEpoch("c", "two"))


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_epoch_rises_only_while_started(world: World, target: TargetState) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    world.target(target)
    with pytest.raises(StaleEpochError, match=target.value):
        world.do(RaiseEpoch("c", "one"))


def test_epoch_of_deleted_connector_stays(world: World) -> None:
    world.create()
    world.do(TakeLease("c", "one", 60))
    world.delete()
    with pytest.raises(StaleEpochError, match="deleted"):
        world.do(RaiseEpoch("c", "one"))


def test_signals_tell_what_changed(world: World) -> None:
    assert world.effects.signals("c") is None
    world.create()
    world.drive(holder="one")
    world.target(TargetState.PAUSED)
    assert world.effects.signals("c") == leases.Signals(
        epoch=1,
        incarnation=1,
        target_state=TargetState.PAUSED,
        config_version=1,
        holder="one",
        is_gone=False,
        is_dag_paused=False,
        is_restart_asked=False,
    )
    world.delete()
    signals = world.effects.signals("c")
    assert signals is not None
    assert signals.is_gone
