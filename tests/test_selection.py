"""A suite imports the modules that have tests of it; what it would miss ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.selection import SUITES, has_nothing_of, lost, suite_of

OTHERS = {"simulator", "browser", "faults"}


@dataclass(frozen=True)
class Collected:
    path: Path
    marks: tuple[str, ...]
    nodeid: str = "tests/test_it.py::test_it"

    def iter_markers(self) -> Iterator[pytest.Mark]:
        yield from (getattr(pytest.mark, name).mark for name in self.marks)


def collected(path: Path, *marks: str) -> Any:
    """Return what stands for a collected test."""
    return Collected(path, marks)


def module(folder: Path, text: str) -> Path:
    file = folder / "test_it.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("def test_it(): ...", {"slow", *OTHERS}),
        ("pytestmark = pytest.mark.slow", {"unit", *OTHERS}),
        ("pytestmark = [pytest.mark.timeout(9), pytest.mark.servers]", {"unit", "slow", *OTHERS}),
        ("@pytest.mark.slow\ndef test_it(): ...", OTHERS),
        ("    pytestmark = pytest.mark.slow", OTHERS),
        ("from tests.connectors.jdbc.servers import kinds", OTHERS),
    ],
)
def test_text_of_a_module_tells_of_which_suites_it_has_nothing(tmp_path: Path, text: str, without: set[str]) -> None:
    file = module(tmp_path, text)
    assert {name for name in SUITES if has_nothing_of(name, file)} == without
    assert not has_nothing_of(None, file)


@pytest.mark.parametrize(
    ("text", "marks", "suite"),
    [
        ("SLOW = elsewhere", ("slow",), "slow"),
        ("pytestmark = pytest.mark.slow", (), "unit"),
        ("pytestmark = elsewhere", ("faults", "slow"), "faults"),
    ],
)
def test_a_test_that_its_suite_would_not_import_is_named(
    tmp_path: Path, text: str, marks: tuple[str, ...], suite: str
) -> None:
    (found,) = lost([collected(module(tmp_path, text), *marks)])
    assert found.startswith(f"tests/test_it.py::test_it is of the suite {suite}, ")


def test_what_its_suite_imports_is_not_named(tmp_path: Path) -> None:
    file = module(tmp_path, "pytestmark = pytest.mark.slow")
    assert lost([collected(file, *marks) for marks in (("slow",), ("slow", "servers"), ("slow", "matrix"))]) == []


def test_only_a_suites_own_expression_leaves_modules_out() -> None:
    assert [suite_of(expression) for expression in SUITES.values()] == list(SUITES)
    assert suite_of("slow") is None
    assert suite_of("") is None
