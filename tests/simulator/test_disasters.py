"""The metadata start over or are put back from a backup, another deployment has written to the same place.

Backups of the metadata that lose an operator's request are left out where it stands there alone: nothing can know it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.full_run import examples
from tests.simulator.chances import BACKUP, FOREIGN, METADATA_LOST, METADATA_RESTORED, TARGET_RESTORED, Plot
from tests.simulator.history import KINDS
from tests.simulator.scenario import plotted
from tests.simulator.traits import Traits
from tests.simulator.truth import Violation

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("_quiet")]

_BEGUN_ANEW: Plot = (("K0", METADATA_LOST),)
_BEFORE_SQL_FOLLOWS: Plot = (("K7", METADATA_LOST),)
_RESTORED: Plot = (("K0", BACKUP), ("K0", METADATA_RESTORED))
_FOREIGN: Plot = (("K0", FOREIGN),)
_SEEDS = examples(16, 40)


@pytest.fixture
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def check(kind: str, plot: Plot, traits: Traits) -> None:
    met = 0
    for seed in range(_SEEDS):
        schedule = plotted(seed, kind, plot, traits)
        try:
            schedule.run()
        except Violation as violation:
            raise AssertionError(f"seed {seed}: {violation}") from violation
        met += schedule.seen[plot[-1]]
    assert met > _SEEDS / 4


@pytest.mark.parametrize("plot", [_BEGUN_ANEW, _RESTORED], ids=["recreated", "restored"])
@pytest.mark.parametrize("kind", KINDS)
def test_metadata_that_are_lost_make_no_connector_lose_or_repeat_records(kind: str, plot: Plot) -> None:
    check(kind, plot, {})


@pytest.mark.parametrize(
    "plot",
    [_BEGUN_ANEW, _BEFORE_SQL_FOLLOWS, _RESTORED, _FOREIGN],
    ids=["recreated", "lost in a commit", "restored", "foreign"],
)
@pytest.mark.parametrize("target", ["model", "lines", "folder"])
def test_files_of_another_life_or_deployment_are_never_taken_for_this_one_s(target: str, plot: Plot) -> None:
    check("files", plot, {"target": target})


def test_a_database_that_was_put_back_is_written_again_from_where_it_stands() -> None:
    check("database", (("K0", BACKUP), ("K0", TARGET_RESTORED)), {})
