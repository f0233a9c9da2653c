"""Every attack of the table, and every answer of Connect's, has a test, and the test exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.architecture.sources import ROOT

PAGE = ROOT / "tests/rest/ATTACKS.md"
_LINK = re.compile(r"\[([^\]]*`test_[^\]]*)\]\(([^)]+)\)")


def rows() -> list[str]:
    lines = PAGE.read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith("| ") and not line.startswith(("| |", "| Asked |"))]


def named() -> Iterator[tuple[str, str]]:
    for names, file in _LINK.findall(PAGE.read_text("utf-8")):
        yield from ((file, name) for name in re.findall(r"`(test_\w+)`", names))


def test_every_line_has_a_test() -> None:
    assert len(rows()) > 30
    assert [row for row in rows() if not _LINK.search(row)] == []


def test_every_point_has_its_lines() -> None:
    assert {int(row.split("|")[1]) for row in rows() if row.split("|")[1].strip().isdigit()} == set(range(1, 12))


def test_tests_of_the_table_exist() -> None:
    found = list(named())
    assert len(found) > 60
    assert [one for one in found if f"def {one[1]}(" not in (PAGE.parent / one[0]).resolve().read_text("utf-8")] == []
