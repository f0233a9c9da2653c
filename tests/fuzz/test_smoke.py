"""A small part of ``make fuzz``, with the same cases every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.case import Case
from tests.fuzz.campaign import run_campaign
from tests.fuzz.connect_classes import connect_classes

pytestmark = pytest.mark.slow


def test_connects_classes_and_ours_answer_alike(tmp_path: Path) -> None:
    with connect_classes(tmp_path) as classes:
        campaign = run_campaign(classes, seed=20261122, count=1000)
    assert campaign.differences == []
    # What moved nothing would show nothing.
    assert campaign.cases > 950
    assert 200 < campaign.errors < 600
    assert len(campaign.kinds) == 8


def test_a_wrong_answer_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: ours made to answer wrongly."""
    monkeypatch.setattr("tests.conformance.kinds.data.project", lambda source, value, target: 17)
    with connect_classes(tmp_path) as classes:
        campaign = run_campaign(classes, seed=20261122, count=300)
    assert {one.case.kind for one in campaign.differences} == {"project"}


def test_connects_answer_has_the_form_of_recorded_cases(tmp_path: Path) -> None:
    content = {"schema": None, "value": "[1, 2]"}
    with connect_classes(tmp_path) as classes:
        answers = classes.run([Case("fuzz", "1", "values", "parseString", None, content, None)])
    element = {"type": "int8", "optional": False}
    assert answers == [
        {
            "schema": {"type": "array", "optional": False, "valueSchema": element},
            "value": [{"@int8": 1}, {"@int8": 2}],
        }
    ]
