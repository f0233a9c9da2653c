"""What happens to files after the commit of what was read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connect_core.connectors.filesystem.source import files_read as source_record
from connect_core.connectors.filesystem.source import pieces as source_pieces
from connect_core.connectors.filesystem.source import plan as source_plan
from connect_core.testing.source_engine import Lane, Position, position_after
from tests.connectors.filesystem.reading import Reading, put

pytestmark = pytest.mark.slow


def names(folder: Path) -> list[str]:
    return sorted(place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file())


@pytest.mark.parametrize(
    ("action", "first", "second"),
    [
        ("delete", [], []),
        ("mark", ["_a.txt.read", "a.txt", "d/_b.txt.read", "d/b.txt"], []),
        ("move", ["_read/a.txt", "_read/d/b.txt"], ["_read/a.txt", "_read/a.txt.VERSION", "_read/d/b.txt"]),
    ],
)
def test_files_are_put_away_after_the_commit(tmp_path: Path, action: str, first: Any, second: Any) -> None:
    reading = Reading(tmp_path, **{"after.commit": action})
    put(tmp_path / "in/a.txt", "1\n", 100)
    put(tmp_path / "in/d/b.txt", "2\n", 200)
    polls = reading.engine.read()
    # Not committed yet: nothing happens to them, and another attempt reads them again.
    assert names(tmp_path / "in") == ["a.txt", "d/b.txt"]
    assert reading.engine.bound(Position()) == reading.engine.bound(Position())
    assert names(tmp_path / "in") == ["a.txt", "d/b.txt"]
    reading.position = position_after(polls)
    for _ in range(2):
        assert reading.values() == []
        assert names(tmp_path / "in") == first
    put(tmp_path / "in/a.txt", "3\n", 300)
    assert reading.until_idle() == ["3"]
    if second:
        version = next(name for name in names(tmp_path / "in") if name.startswith("_read/a.txt."))
        assert names(tmp_path / "in") == sorted([*second[:1], version, *second[2:]])


def test_a_file_that_was_replaced_is_not_put_away(tmp_path: Path) -> None:
    reading = Reading(tmp_path, **{"after.commit": "delete"})
    put(tmp_path / "in/a.txt", "1\n", 100)
    polls = reading.engine.read()
    reading.position = position_after(polls)
    put(tmp_path / "in/a.txt", "2\n", 200)
    assert reading.until_idle() == ["2"]
    assert names(tmp_path / "in") == []


def test_pieces_are_put_away_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_pieces, "PIECE_BYTES", 10)
    monkeypatch.setattr(source_plan, "MOST_PIECES", 4)
    reading = Reading(tmp_path, Lane.BATCHES, 2, **{"after.commit": "delete"})
    put(tmp_path / "in/a.txt", "".join(f"line {number}\n" for number in range(10)))
    found = reading.values()
    assert reading.engine.bound(reading.position) != reading.position.offsets
    assert names(tmp_path / "in") == ["a.txt"]
    assert sorted([*found, *reading.until_idle()]) == sorted(f"line {number}" for number in range(10))
    assert names(tmp_path / "in") == []


def test_with_deletion_no_file_is_too_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_record, "KEPT", 3)
    reading = Reading(tmp_path, **{"after.commit": "delete"})
    for number in range(20):
        put(tmp_path / f"in/{number}.txt", f"{number}\n", 1000 + number)
    assert len(reading.until_idle()) == 20
    put(tmp_path / "in/old.txt", "old\n", 1)
    assert reading.until_idle() == ["old"]
