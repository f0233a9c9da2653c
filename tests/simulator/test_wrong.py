"""The checker is tested: each wrong protocol, and each check left out of the right one, is caught."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.full_run import IS_FULL_RUN, examples
from tests.simulator.chances import Plot
from tests.simulator.missing import MISSING, UNSEEN, without
from tests.simulator.scenario import plotted
from tests.simulator.traits import Traits
from tests.simulator.wrong import Patch, caught, patched
from tests.simulator.wrong_files import WRONG_FILES
from tests.simulator.wrong_sinks import WRONG_SINKS
from tests.simulator.wrong_sources import WRONG_SOURCES

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("_quiet")]

_HISTORIES = 1000
_STEPS = 300_000
"""Within how many steps each mistake has to be caught."""
_CAUGHT: Mapping[str, int] = json.loads((Path(__file__).parent / "caught.json").read_text())
"""Mistake → the seed that has caught it, where many before it have not: ``make test`` begins there."""
_PLAIN: Traits = MappingProxyType({})
_ALL = {**WRONG_SOURCES, **WRONG_SINKS, **WRONG_FILES}


@pytest.fixture
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def check_caught(name: str, kind: str, patches: tuple[Patch, ...], plot: Plot = (), traits: Traits = _PLAIN) -> None:
    assert patches, "nothing is changed"
    first = 0 if IS_FULL_RUN else _CAUGHT.get(name, 0)
    with patched(patches):
        found = caught(kind, range(first, first + _HISTORIES), plot, traits)
    assert found is not None, f"no violation in {_HISTORIES} histories of {kind} connectors"
    seed, steps, violation = found
    assert steps <= _STEPS, f"caught only after {steps:,} steps"
    print(f"{name}: caught after {steps:,} steps, {kind} seed {seed}: {violation}")


@pytest.mark.parametrize("name", _ALL)
def test_wrong_protocol_is_caught(name: str) -> None:
    wrong = _ALL[name]
    check_caught(name, wrong.kind, wrong.patches, wrong.plot, wrong.traits)


@pytest.mark.parametrize("name", [name for name, wrong in _ALL.items() if wrong.plot])
def test_the_right_protocol_breaks_nothing_on_the_way_to_a_mistake(name: str) -> None:
    wrong, followed, seeds = _ALL[name], 0, examples(20, 40)
    for seed in range(seeds):
        schedule = plotted(seed, wrong.kind, wrong.plot, wrong.traits)
        schedule.run()
        followed += schedule.seen.total() >= len(wrong.plot)
    assert followed > seeds / 4


@pytest.mark.parametrize("name", MISSING)
def test_check_left_out_is_caught(name: str) -> None:
    check = MISSING[name]
    check_caught(name, check.kind, without(check.module, check.text, check.instead), check.plot, check.traits)


@pytest.mark.parametrize("name", UNSEEN)
def test_check_that_cannot_be_seen_is_there(name: str) -> None:
    module, text, reason = UNSEEN[name]
    assert inspect.getsource(module).count(text) == 1
    assert reason


def test_each_seed_kept_belongs_to_a_mistake() -> None:
    assert set(_CAUGHT) <= {*_ALL, *MISSING}
