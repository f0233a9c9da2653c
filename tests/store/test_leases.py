"""Leases by the database's clock, and the epoch: of racers exactly one wins."""

from __future__ import annotations

import time

import pytest

from connect_core.errors import LeaseLostError, NotFoundError, StaleEpochError
from connect_core.interval.effects import RaiseEpoch, ReleaseLease, TakeLease
from connect_core.interval.values import TargetState
from connect_core.store import leases
from tests.store.harness import Harness, race


def test_lease_is_exclusive_while_valid(harness: Harness) -> None:
    harness.create()
    assert harness.do(TakeLease("c", "one", 60)).name == "c"
    assert harness.do(TakeLease("c", "two", 60)) is None
    assert harness.do(TakeLease("c", "one", 60)) is not None


def test_released_lease_is_free(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    harness.do(ReleaseLease("c", "two"))
    assert harness.do(TakeLease("c", "two", 60)) is None
    harness.do(ReleaseLease("c", "one"))
    assert harness.do(TakeLease("c", "two", 60)) is not None


def test_expired_lease_is_taken_over(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    assert harness.do(TakeLease("c", "two", 60)) is None
    assert harness.effects.renew_lease("c", "one", 0.2)
    deadline = time.monotonic() + 10
    while harness.do(TakeLease("c", "two", 60)) is None:
        assert time.monotonic() < deadline
    assert not harness.effects.renew_lease("c", "one", 60)
    assert harness.effects.renew_lease("c", "two", 60)


def test_renewed_lease_lasts_longer(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 0.1))
    assert harness.effects.renew_lease("c", "one", 60)
    assert harness.do(TakeLease("c", "two", 60)) is None


def test_lease_of_unknown_connector_is_refused(harness: Harness) -> None:
    with pytest.raises(NotFoundError, match="Connector c not found"):
        harness.do(TakeLease("c", "one", 60))
    harness.create()
    harness.delete()
    with pytest.raises(NotFoundError):
        harness.do(TakeLease("c", "one", 60))


def test_lease_race_has_one_winner(harness: Harness) -> None:
    harness.create()
    results = race(8, lambda number: harness.do(TakeLease("c", f"holder-{number}", 60)))
    assert len([one for one in results if one is not None]) == 1


def test_epoch_rises_above_its_floor(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    assert harness.do(RaiseEpoch("c", "one")) == 1
    assert harness.do(RaiseEpoch("c", "one", floor=7)) == 8
    assert harness.do(RaiseEpoch("c", "one", floor=7)) == 9


def test_epoch_race_gives_different_epochs(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    assert sorted(race(6, lambda number: harness.do(RaiseEpoch("c", "one")))) == [1, 2, 3, 4, 5, 6]


def test_epoch_needs_the_lease(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    with pytest.raises(LeaseLostError, match="held by one, no longer by two"):
        harness.do(RaiseEpoch("c", "two"))


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_epoch_rises_only_while_started(harness: Harness, target: TargetState) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    harness.target(target)
    with pytest.raises(StaleEpochError, match=target.value):
        harness.do(RaiseEpoch("c", "one"))


def test_epoch_of_deleted_connector_stays(harness: Harness) -> None:
    harness.create()
    harness.do(TakeLease("c", "one", 60))
    harness.delete()
    with pytest.raises(StaleEpochError, match="deleted"):
        harness.do(RaiseEpoch("c", "one"))


def test_signals_tell_what_changed(harness: Harness) -> None:
    assert harness.effects.signals("c") is None
    harness.create()
    harness.drive(holder="one")
    harness.target(TargetState.PAUSED)
    assert harness.effects.signals("c") == leases.Signals(
        epoch=1,
        incarnation=1,
        target_state=TargetState.PAUSED,
        config_version=1,
        holder="one",
        is_gone=False,
        is_dag_paused=False,
        is_restart_asked=False,
    )
    harness.delete()
    signals = harness.effects.signals("c")
    assert signals is not None
    assert signals.is_gone
