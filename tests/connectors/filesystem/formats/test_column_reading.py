"""Headers and rows of CSV files that are not one line of a few bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.connectors.filesystem.reading import Reading, put

pytestmark = pytest.mark.slow


def rows(folder: Path, data: str | bytes, **config: str) -> list[Any]:
    """Return the values of each row of a CSV file."""
    put(folder / "in/a.csv", data)
    found = Reading(folder, format="csv", **config).values()
    return [[value.get(field.name) for field in value.schema.fields] for value in found]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_name_may_contain_line_ends(tmp_path: Path, end: str) -> None:
    data = end.join(['"a', 'é","c"', '"1","2"', '"3","4"', ""])
    put(tmp_path / "in/a.csv", data)
    first, second = Reading(tmp_path, format="csv").values()
    assert first.schema.fields[0].name == f"a{end}é"
    assert [first.get("c"), second.get("c")] == ["2", "4"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("\ufeffa,b\n1,2\n", [["1", "2"]]),
        ("\n\r\na,b\n1,2\n", [["1", "2"]]),
        ("a,b", []),
        ('"a"', []),
        ("a\n\n", [[None]]),
        ('"a\nb"\n\nx', [[None], ["x"]]),
        ("\n", []),
    ],
)
def test_rows_begin_behind_the_header(tmp_path: Path, data: str, expected: list[list[Any]]) -> None:
    assert rows(tmp_path, data) == expected
