from itertools import product
from pathlib import Path

import pytest

from tests.selection import MARKS, SUITES
from tests.suites import conclude, skipped, slowest

_REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_b"><skipped message="no browser"/></testcase>
<testcase classname="tests.a" name="test_c"/>
</testsuite></testsuites>"""


def test_skipped_names_test_and_reason(tmp_path: Path) -> None:
    (tmp_path / "unit.xml").write_text(_REPORT)
    assert list(skipped(tmp_path / "unit.xml")) == ["tests.a.test_b: no browser"]


def test_skipped_tells_of_a_missing_report(tmp_path: Path) -> None:
    assert list(skipped(tmp_path / "unit.xml")) == ["no report: pytest did not get to its end"]


def test_slowest_modules_are_those_of_a_minute_or_longer(tmp_path: Path) -> None:
    times = [("tests.a", 31.5), ("tests.b.TestB", 70.0), ("tests.b.TestC", 20.0), ("tests.a", 30.5), ("tests.c", 59.0)]
    cases = "".join(f'<testcase classname="{module}" time="{seconds}"/>' for module, seconds in times)
    (tmp_path / "unit.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert slowest(tmp_path / "unit.xml") == [("tests.b", 90.0), ("tests.a", 62.0)]
    assert slowest(tmp_path / "none.xml") == []


@pytest.mark.parametrize(
    ("failed", "left_out", "in_ci", "status"),
    [([], [], "true", 0), ([], ["x"], "", 0), ([], ["x"], "true", 1), (["unit"], [], "", 1)],
)
def test_conclude_fails_in_ci_when_something_was_left_out(
    monkeypatch: pytest.MonkeyPatch, failed: list[str], left_out: list[str], in_ci: str, status: int
) -> None:
    monkeypatch.setenv("CI", in_ci)
    assert conclude(failed, left_out) == status


@pytest.mark.parametrize("marks", list(product((False, True), repeat=6)))
def test_suites_select_every_test_once(marks: tuple[bool, ...]) -> None:
    names = dict(zip(MARKS, marks, strict=True))
    assert sum(eval(expression, {}, names) for expression in SUITES.values()) == (not names["matrix"])
