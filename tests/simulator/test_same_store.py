"""The quick metadata database answers as the production SQL does: the same histories on both, act by act."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from connect_core.effects.store import StoreEffects
from tests.simulator.compared_metadata import ComparedMetadata
from tests.simulator.history import KINDS
from tests.simulator.metadata import Metadata
from tests.simulator.scenario import seeded
from tests.simulator.store_metadata import StoreMetadata
from tests.simulator.truth import Violation
from tests.simulator.wrong import patched

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("_quiet")]


@pytest.fixture
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("kind", KINDS)
def test_quick_database_is_the_production_sql(kind: str) -> None:
    steps = 0
    for seed in range(10_000, 10_006):
        schedule = seeded(seed, kind, {"store": "compared"})
        schedule.run()
        steps += schedule.steps
    assert steps > 500


def test_a_difference_is_seen() -> None:
    """A quick database whose stop leaves a failed interval as it is, as the simulator's once did."""
    with patched(((Metadata, "_unblock", lambda database: None),)), pytest.raises(Violation, match="unfinished after"):
        _run_all(range(100))


def test_all_that_the_production_performs_is_compared() -> None:
    metadata = seeded(0, "files", {"store": "compared"}).history.sql
    assert isinstance(metadata, ComparedMetadata)
    real = StoreEffects(StoreMetadata(metadata.connector_type, lambda holder: True).database)
    assert set(metadata.handlers()) == set(real.handlers())


def _run_all(seeds: range) -> None:
    for seed in seeds:
        seeded(seed, "files", {"store": "compared"}).run()
