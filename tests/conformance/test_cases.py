"""Every recorded case, in both lanes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.case import Case, load_cases
from tests.conformance.runner import Lane, run_cases

pytestmark = pytest.mark.slow


CASES = Path(__file__).parent / "cases"


@cache
def _cases() -> Sequence[Case]:
    return load_cases(CASES)


def _areas() -> list[str]:
    return sorted({case.area for case in _cases()})


@pytest.mark.parametrize("area", _areas())
def test_cases_as_recorded(area: str) -> None:
    outcomes = run_cases([case for case in _cases() if case.area == area], Lane.BOTH)
    failed = {outcome.case.id: outcome.problems for outcome in outcomes if not outcome.passed}
    assert failed == {}
