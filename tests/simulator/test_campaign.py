"""Many histories, a million steps in ``make fuzz``: no invariant breaks, every fault was met at every kill point."""

from __future__ import annotations

import time

import pytest

from tests.full_run import IS_FULL_RUN, examples
from tests.simulator.campaign import STEPS, UNREACHABLE, Tally, report, run_all, run_more
from tests.simulator.chances import FAULTS, POINTS

pytestmark = pytest.mark.simulator

_STEPS = examples(200_000, STEPS)


@pytest.mark.timeout(1200)
def test_no_invariant_breaks_and_every_fault_is_met_at_every_point() -> None:
    began = time.monotonic()
    tally = run_all(_STEPS, first_seed=0, processes=2)
    # A part of the steps meets not all that is rare by chance alone; the whole does.
    more = Tally() if IS_FULL_RUN else run_more(tally, first_seed=0)
    whole = tally + more
    print(report(whole, 0, time.monotonic() - began))
    assert whole.violations == []
    assert tally.steps >= _STEPS
    assert tally.uneven == ()
    assert (whole.rare, whole.unmet) == ((), ())
    # What cannot be never was.
    assert not [pair for pair in UNREACHABLE if whole.seen[pair]]


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
