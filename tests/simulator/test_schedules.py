"""Schedules drawn and shrunk by hypothesis; failing ones that were found are kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from tests.full_run import examples
from tests.simulator.chances import Chances, Recorder
from tests.simulator.history import KINDS
from tests.simulator.scenario import scenario, taped
from tests.simulator.traits import TRAITS, fields_of
from tests.simulator.truth import Violation
from tests.simulator.wrong import patched
from tests.simulator.wrong_sinks import WRONG_SINKS

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("_quiet")]

KEPT = json.loads((Path(__file__).parent / "kept.json").read_text())
"""Histories that once broke an invariant: name → the kind of connector, its traits, and the tape."""

TAPES = st.dictionaries(st.integers(0, 300), st.integers(0, 59), max_size=24)


@pytest.fixture(scope="module")
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def breaks(kind: str, tape: Mapping[int, int]) -> bool:
    try:
        taped(tape, kind).run()
    except Violation:
        return True
    return False


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(60, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tape=TAPES)
def test_no_schedule_breaks_an_invariant(kind: str, tape: Mapping[int, int]) -> None:
    taped(tape, kind).run()


@pytest.mark.parametrize("name", KEPT)
def test_schedule_that_broke_an_invariant_breaks_none(name: str) -> None:
    kept = KEPT[name]
    taped(kept["tape"], kept["kind"], fields_of(kept["traits"])).run()


def test_a_failing_schedule_is_shrunk() -> None:
    """Of a protocol that skips losses in silence little more is left than the loss itself."""
    wrong = WRONG_SINKS["losses skipped in silence"]
    search = settings(max_examples=3000, deadline=None, database=None, phases=[Phase.generate, Phase.shrink])
    with patched(wrong.patches):
        smallest = find(TAPES, lambda tape: breaks(wrong.kind, tape), settings=search)
    assert 1 <= len(smallest) <= 3
    assert not breaks(wrong.kind, smallest)


_SPECIAL = [(kind, name) for name, trait in TRAITS.items() for kind in trait.kinds]


@pytest.mark.parametrize(("kind", "trait"), [*((kind, "") for kind in KINDS), *_SPECIAL])
def test_a_recorded_history_is_played_again(kind: str, trait: str) -> None:
    recorder, traits = Recorder(Chances.seeded(7, kind)), fields_of([trait] if trait else [])
    first = scenario(kind, recorder, traits)
    first.run()
    again = taped(recorder.values, kind, traits)
    again.run()
    assert (again.log, again.steps) == (first.log, first.steps)
