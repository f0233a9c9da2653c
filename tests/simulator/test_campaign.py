"""The protocol through millions of steps: no invariant breaks, and every fault was there at every kill point."""

from __future__ import annotations

import time

import pytest

from tests.simulator.campaign import STEPS, UNREACHABLE, Tally, report, run_all
from tests.simulator.chances import FAULTS, POINTS

pytestmark = pytest.mark.simulator


@pytest.mark.timeout(1200)
def test_no_invariant_breaks_and_every_fault_is_met_at_every_point() -> None:
    began = time.monotonic()
    tally = run_all(STEPS, first_seed=0, processes=2)
    print(report(tally, 0, time.monotonic() - began))
    assert tally.violations == []
    assert tally.steps >= STEPS
    assert tally.rare == ()
    assert (tally.unmet, tally.uneven) == ((), ())


def test_a_fault_that_was_rare_is_named() -> None:
    tally = Tally(steps=STEPS)
    for point in POINTS:
        for fault in FAULTS:
            tally.seen[point, fault] = 1000
    tally.seen["K1", "expire"] = 0
    before = tally.rare
    assert before == ()
    tally.seen["K6", "crash"], tally.seen["K7", "revived"] = 14, 149
    assert tally.rare == ("K6 and crash: 14", "K7 and revived: 149")
    assert "Too rare: K6 and crash: 14" in report(tally, 0, 1.0)


def test_what_cannot_be_never_was() -> None:
    tally = run_all(20_000, first_seed=0, processes=1)
    assert not [pair for pair in UNREACHABLE if tally.seen[pair]]
