"""The offsets topic is lost at each kill point: nothing is repeated, and all goes on once somebody says where.

One fault at a time: what stood in the topic alone is gone with it. A sleeping operator's request is then no longer
told that a newer epoch replaced it, and an operator who resets cannot know what Kafka was ahead of SQL by.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from connect_core.plan import offsets_topic, source
from tests.simulator.chances import OFFSETS_LOST, POINTS, Plot
from tests.simulator.scenario import plotted
from tests.simulator.truth import Violation
from tests.simulator.wrong import caught, patched

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("_quiet")]

# A source has nothing to publish, which is K8.
_PLOTS = [((point, OFFSETS_LOST),) for point in POINTS if point != "K8"]
# Kafka has what SQL does not know yet, and nothing tells of it any more.
_AHEAD = (("K6", "crash"), ("K0", OFFSETS_LOST))


@pytest.fixture
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("plot", [*_PLOTS, _AHEAD], ids=lambda plot: f"{plot[0][0]} {plot[0][1]}")
def test_lost_offsets_topic_makes_a_source_lose_and_repeat_nothing(plot: Plot) -> None:
    lost = 0
    for seed in range(20):
        schedule = plotted(seed, "source", plot)
        try:
            schedule.run()
        except Violation as violation:
            raise AssertionError(f"seed {seed}: {violation}") from violation
        lost += schedule.seen[plot[-1]]
    assert lost >= 5


def test_protocol_blind_to_the_loss_is_caught() -> None:
    with patched(((offsets_topic, "check_finished", _unasked), (source, "check_finished", _unasked))):
        found = caught("source", range(200), _AHEAD)
    assert found is not None
    print(f"loss of the offsets topic not noticed: caught after {found[1]:,} steps, seed {found[0]}: {found[2]}")
    assert found[2].startswith("I2")


def _unasked(*arguments: object) -> Iterator[None]:
    """Take SQL's offsets, whatever is unfinished."""
    yield from ()
