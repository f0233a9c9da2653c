"""What code and pages refer to exists: files, and the headings behind a ``#``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.interval.failpoints import FAIL_POINTS
from tests.architecture.sources import ROOT

_FOLDERS = ("connect_core", "tests", "dags", "plugins", "config")
_IN_CODE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)+[\w-]+\.md)(?:#([\w-]+))?")
_IN_PAGES = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_PROTOCOL = ROOT / "connect_core/plan/README.md"


def pages() -> list[Path]:
    return [ROOT / "README.md", *(page for folder in _FOLDERS for page in sorted((ROOT / folder).rglob("*.md")))]


def code() -> list[Path]:
    return [file for folder in _FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def is_there(path: Path, heading: str) -> bool:
    return path.exists() and (not heading or heading in headings(path))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = _IN_PAGES.findall(page.read_text("utf-8"))
    assert [link for link in links if not is_there((page.parent / link[0]) if link[0] else page, link[1])] == []


def test_code_refers_to_what_exists() -> None:
    assert [found for found in _references() if not found[1]] == []


def test_some_code_refers_to_the_protocol() -> None:
    assert sum("plan/README.md" in name for name, _ in _references()) > 10


def test_protocol_has_the_kill_points_of_the_code() -> None:
    rows = dict(re.findall(r"^\| (K\d+) \| (.+) \|$", _PROTOCOL.read_text("utf-8"), re.MULTILINE))
    assert rows == dict(FAIL_POINTS)


def _references() -> Iterator[tuple[str, bool]]:
    """Yield each page that code names, from its folder, ``connect_core`` or the top, and whether it is there."""
    for file in code():
        for name, heading in _IN_CODE.findall(file.read_text("utf-8")):
            at = (file.parent, ROOT / "connect_core", ROOT)
            yield f"{file.name}: {name}#{heading}", any(is_there(folder / name, heading) for folder in at)
