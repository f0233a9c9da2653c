"""A small part of ``make fuzz``, with the same cases every time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.case import Case
from tests.full_run import examples
from tests.fuzz.campaign import run_campaign
from tests.fuzz.connect_classes import ConnectClasses, connect_classes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectClasses]:
    """One for all tests: to compile and start it takes seconds."""
    with connect_classes(tmp_path_factory.mktemp("classes")) as running:
        yield running


def test_connects_classes_and_ours_answer_alike(classes: ConnectClasses) -> None:
    count = examples(600, 5000)
    campaign = run_campaign(classes, seed=20261122, count=count)
    assert campaign.differences == []
    # What moved nothing would show nothing.
    assert campaign.cases > 0.95 * count
    assert 0.2 * count < campaign.errors < 0.6 * count
    assert len(campaign.kinds) == 8


def test_a_wrong_answer_is_seen(classes: ConnectClasses, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: ours made to answer wrongly."""
    monkeypatch.setattr("tests.conformance.kinds.data.project", lambda source, value, target: 17)
    campaign = run_campaign(classes, seed=20261122, count=150)
    assert {one.case.kind for one in campaign.differences} == {"project"}


def test_connects_answer_has_the_form_of_recorded_cases(classes: ConnectClasses) -> None:
    content = {"schema": None, "value": "[1, 2]"}
    answers = classes.run([Case("fuzz", "1", "values", "parseString", None, content, None)])
    element = {"type": "int8", "optional": False}
    assert answers == [
        {
            "schema": {"type": "array", "optional": False, "valueSchema": element},
            "value": [{"@int8": 1}, {"@int8": 2}],
        }
    ]
