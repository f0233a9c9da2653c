"""What recounts find in tables of any format.

A test module has a fixture ``lake`` and a class that inherits from the contract.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.api import IntervalKey, RecountedInterval
from connect_core.api.recount import RecountingCommitter
from tests.connectors.lake.table_sink import TableSink, numbered

__all__ = ["RecountContract", "kinds", "recount"]


def recount(lake: TableSink, first: int = 1, last: int = 9) -> list[RecountedInterval]:
    """Ask as an operator does: nothing is fenced by it."""
    connector = lake.connector()
    committer = connector.committer(lake.config)
    assert isinstance(committer, RecountingCommitter)
    return list(committer.recount(first, IntervalKey(lake.name, 1, last, 0)))


def kinds(found: list[RecountedInterval]) -> list[tuple[str, int | None]]:
    """Return the differences, each with its interval."""
    return [(one.kind, one.interval) for interval in found for one in interval.differences]


def _second(lake: TableSink) -> Path:
    """Return the file of the second interval."""
    return sorted(lake.data_files(), key=lambda place: place.stat().st_mtime_ns)[1]


class RecountContract:
    """Files and tables that were lost or cut, decisions that were not followed, rows of others."""

    @pytest.fixture
    def written(self, lake: TableSink) -> TableSink:
        """Three intervals of two, one and three rows."""
        for sequence, (first, count) in enumerate(((0, 2), (2, 1), (3, 3)), 1):
            values = [{"n": number} for number in range(first, first + count)]
            lake.run(numbered(values, first=first), sequence=sequence)
        return lake

    def test_decisions_are_found_in_the_table(self, written: TableSink) -> None:
        before = sorted((str(place), place.stat().st_mtime_ns) for place in written.folder.rglob("*"))
        found = recount(written)
        assert [(one.key.sequence, one.rows, one.found, one.parts) for one in found] == [
            (3, 3, 3, 1),
            (2, 1, 1, 1),
            (1, 2, 2, 1),
        ]
        assert [(one.differences, one.notes) for one in found] == [((), ())] * 3
        assert [(part.start, part.end) for one in found for part in one.ranges] == [(3, 6), (2, 3), (0, 2)]
        assert sorted((str(place), place.stat().st_mtime_ns) for place in written.folder.rglob("*")) == before
        assert [one.key.sequence for one in recount(written, 2, 2)] == [2]

    def test_lost_file(self, written: TableSink) -> None:
        _second(written).unlink()
        assert kinds(recount(written)) == [("missing", 2)]

    def test_cut_file(self, written: TableSink) -> None:
        place = _second(written)
        place.write_bytes(place.read_bytes()[:-4])
        assert kinds(recount(written)) == [("size", 2)]

    def test_decision_that_the_table_did_not_follow(self, written: TableSink) -> None:
        """It is committed all the same: the next driver appends it."""
        staged = written.stage(numbered([{"n": 9}], first=6), sequence=4)
        written.committer().commit(written.key(4), staged)
        assert kinds(recount(written)) == [("missing", 4)]

    def test_given_up_interval_is_none(self, written: TableSink) -> None:
        written.committer().abandon(written.key(4), None)
        newest = recount(written)[0]
        assert (newest.is_aborted, newest.rows, newest.differences) == (True, 0, ())

    def test_lost_table(self, written: TableSink) -> None:
        written.drop()
        assert kinds(recount(written)) == [("missing", 3), ("missing", 2), ("missing", 1)]

    def test_rows_of_others_are_none_of_ours(self, written: TableSink) -> None:
        written.append_again()
        assert kinds(recount(written)) == []
