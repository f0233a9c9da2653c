"""Snapshots of tables are counted against the decisions on intervals."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.api import IntervalKey, RecountedInterval
from connect_core.api.recount import RecountingCommitter
from tests.connectors.iceberg.lake import Lake, numbered

pytestmark = pytest.mark.slow


def recount(lake: Lake, first: int = 1, last: int = 9) -> list[RecountedInterval]:
    """Ask as an operator does: nothing is fenced by it."""
    connector = lake.connector()
    committer = connector.committer(lake.config)
    assert isinstance(committer, RecountingCommitter)
    return list(committer.recount(first, IntervalKey(lake.name, 1, last, 0)))


def kinds(found: list[RecountedInterval]) -> list[tuple[str, int | None]]:
    return [(one.kind, one.interval) for interval in found for one in interval.differences]


@pytest.fixture
def written(lake: Lake) -> Lake:
    """Three intervals of two, one and three rows."""
    for sequence, (first, count) in enumerate(((0, 2), (2, 1), (3, 3)), 1):
        lake.run(numbered([{"n": number} for number in range(first, first + count)], first=first), sequence=sequence)
    return lake


def test_decisions_are_found_in_the_table(written: Lake) -> None:
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


def second(lake: Lake) -> Path:
    """Return the file of the second interval."""
    return sorted(lake.data_files(), key=lambda place: place.stat().st_mtime_ns)[1]


def test_lost_file(written: Lake) -> None:
    second(written).unlink()
    assert kinds(recount(written)) == [("missing", 2)]


def test_cut_file(written: Lake) -> None:
    place = second(written)
    place.write_bytes(place.read_bytes()[:-4])
    assert kinds(recount(written)) == [("size", 2)]


def test_decision_that_the_table_did_not_follow(written: Lake) -> None:
    """It is committed all the same: the next driver appends it."""
    staged = written.stage(numbered([{"n": 9}], first=6), sequence=4)
    written.committer().commit(written.key(4), staged)
    assert kinds(recount(written)) == [("missing", 4)]


def test_given_up_interval_is_none(written: Lake) -> None:
    written.committer().abandon(written.key(4), None)
    newest = recount(written)[0]
    assert (newest.is_aborted, newest.rows, newest.differences) == (True, 0, ())


def test_lost_table(written: Lake) -> None:
    written.catalog.drop_table("db.orders")
    assert kinds(recount(written)) == [("missing", 3), ("missing", 2), ("missing", 1)]


def test_table_that_was_made_anew(written: Lake) -> None:
    schema = written.table().schema()
    written.catalog.drop_table("db.orders")
    written.catalog.create_table("db.orders", schema)
    found = recount(written)
    assert kinds(found) == []
    assert [one.found for one in found] == [None] * 3
    assert all("recreated" in note for one in found for note in one.notes)


def test_expired_snapshots_are_no_difference(written: Lake) -> None:
    table = written.table()
    first = table.metadata.snapshots[0].snapshot_id
    table.maintenance.expire_snapshots().by_id(first).commit()
    found = recount(written)
    assert (kinds(found), [one.found for one in found]) == ([], [3, 1, None])
    assert any("expired" in note for note in found[2].notes)


def test_rows_of_others_are_none_of_ours(written: Lake) -> None:
    table = written.table()
    table.append(table.scan().to_arrow())
    assert kinds(recount(written)) == []
