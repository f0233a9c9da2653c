"""Small files are merged at the end of a run: no row changes, and nothing is left behind."""

from __future__ import annotations

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation

from connect_core.connectors.iceberg.compacting import COMPACTION, Compacting
from connect_core.connectors.iceberg.snapshots import change_once
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.decisions import ConflictError
from connect_core.connectors.lake.rewriting import Rewriting
from tests.connectors.iceberg.deletes import delete_positions
from tests.connectors.iceberg.lake import Lake, numbered

pytestmark = pytest.mark.slow

ROWS = 3


class Killed(BaseException):
    pass


@pytest.fixture
def compacted(lake: Lake) -> Lake:
    """A table whose files are merged once there are four."""
    lake.set({"compaction.min.files": "4"})
    return lake


def fill(lake: Lake, count: int, first: int = 1) -> None:
    """Run intervals of three rows, without the end of their run."""
    for sequence in range(first, first + count):
        start = (sequence - 1) * ROWS
        values = [{"id": start + number, "day": f"d{number % 2}"} for number in range(ROWS)]
        lake.run(numbered(values, first=start), sequence=sequence)


def ids(lake: Lake) -> list[int]:
    return sorted(row["id"] for row in lake.rows())


def live(lake: Lake, table: Table | None = None) -> list[str]:
    return [task.file.file_path for task in (table or lake.table()).scan().plan_files()]


def test_files_are_merged_once_there_are_enough(compacted: Lake) -> None:
    fill(compacted, 3)
    compacted.committer().sweep([])
    assert len(live(compacted)) == 3
    fill(compacted, 1, first=4)
    compacted.committer().sweep([])
    assert len(live(compacted)) == 1
    assert ids(compacted) == list(range(12))
    snapshot = compacted.table().current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary.operation is Operation.REPLACE
    assert snapshot.summary["total-records"] == "12"


def test_without_the_setting_files_stay(lake: Lake) -> None:
    fill(lake, 6)
    lake.committer().sweep([])
    assert len(live(lake)) == 6


def test_each_partition_is_merged_by_itself(compacted: Lake) -> None:
    compacted.set({"iceberg.tables.default-partition-by": "day"})
    fill(compacted, 4)
    compacted.committer().sweep([])
    assert len(live(compacted)) == 2
    assert {task.file.partition[0] for task in compacted.table().scan().plan_files()} == {"d0", "d1"}
    assert ids(compacted) == list(range(12))


def test_rows_that_were_deleted_stay_deleted(compacted: Lake) -> None:
    fill(compacted, 4)
    delete_positions(compacted.table(), live(compacted)[0], [1])
    before = ids(compacted)
    assert len(before) == 11
    compacted.committer().sweep([])
    assert len(live(compacted)) == 1
    assert ids(compacted) == before


def test_later_intervals_and_replays_go_on_as_before(compacted: Lake) -> None:
    fill(compacted, 4)
    staged = compacted.stage(numbered([{"id": 12, "day": "d0"}], first=12), 5)
    committer, key = compacted.committer(), compacted.key(5)
    marker = committer.commit(key, staged)
    committer.publish(key, marker)
    committer.sweep([])
    compacted.committer(epoch=2).publish(key, marker)
    assert ids(compacted) == list(range(13))
    found = list(committer.recount(1, key))
    assert [(one.rows, one.found, one.differences) for one in found] == [(1, 1, ()), *([(3, 3, ())] * 4)]


def test_earlier_snapshots_stay_readable(compacted: Lake) -> None:
    fill(compacted, 4)
    before = compacted.table().current_snapshot()
    assert before is not None
    compacted.committer().sweep([])
    assert len(compacted.table().scan(snapshot_id=before.snapshot_id).to_arrow()) == 12


def test_another_writer_in_between_comes_first(compacted: Lake) -> None:
    fill(compacted, 4)
    table = compacted.table()
    change = Compacting(table, "main", "connect/copy/compacted", Compaction(4, 2**27), {}).change()
    assert change is not None
    fill(compacted, 1, first=5)
    with pytest.raises(ConflictError):
        change_once(table, change)
    assert ids(compacted) == list(range(15))
    assert not [path for path in compacted.data_files() if "compacted" in path.parts]


def test_what_a_killed_driver_left_is_removed_once_it_can_no_longer_be_committed(
    compacted: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: SqlCatalog, *args: object) -> None:
        raise Killed

    fill(compacted, 4)
    committer = compacted.committer()
    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", killed)
        with pytest.raises(Killed):
            committer.sweep([])
    left = [path for path in compacted.data_files() if "compacted" in path.parts]
    assert len(left) == 1
    # The driver may only be slow: until the table has moved on, its files stay.
    compacted.committer().sweep([])
    assert left[0].exists()
    assert len(live(compacted)) == 1
    fill(compacted, 4, first=5)
    compacted.committer().sweep([])
    assert not left[0].exists()
    assert ids(compacted) == list(range(24))


def test_files_of_an_expired_compaction_are_no_leftovers(compacted: Lake) -> None:
    fill(compacted, 4)
    compacted.committer().sweep([])
    merged = compacted.table().current_snapshot()
    assert merged is not None
    fill(compacted, 4, first=5)
    kept = compacted.table().current_snapshot()
    assert kept is not None
    compacted.table().maintenance.expire_snapshots().by_id(merged.snapshot_id).commit()
    compacted.committer().sweep([])
    fill(compacted, 4, first=9)
    compacted.committer().sweep([])
    assert len(compacted.table().scan(snapshot_id=kept.snapshot_id).to_arrow()) == 24
    assert ids(compacted) == list(range(36))


def test_a_failure_in_the_middle_leaves_nothing_and_no_run_fails(
    compacted: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: Rewriting[object], *args: object) -> None:
        raise OSError(28, "No space left on device")

    fill(compacted, 4)
    monkeypatch.setattr(Rewriting, "_flush", full)
    compacted.committer().sweep([])
    assert "No space left on device" in caplog.text
    assert ids(compacted) == list(range(12))
    assert not [path for path in compacted.data_files() if "compacted" in path.parts]


def test_a_branch_is_merged_where_it_is_written(compacted: Lake) -> None:
    compacted.set({"iceberg.tables.default-commit-branch": "audit"})
    fill(compacted, 4)
    compacted.committer().sweep([])
    table = compacted.table()
    assert len(live(compacted)) == 0
    assert len(list(table.scan().use_ref("audit").plan_files())) == 1
    told = table.snapshot_by_name("audit")
    assert told is not None
    assert told.summary is not None
    assert COMPACTION in told.summary.additional_properties


def test_upserts_find_rows_in_merged_files(compacted: Lake) -> None:
    compacted.set({"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "id"})
    fill(compacted, 4)
    compacted.committer().sweep([])
    compacted.run(numbered([{"id": 5, "day": "new"}], first=12), sequence=5)
    assert ids(compacted) == list(range(12))
    assert [row["day"] for row in compacted.rows() if row["id"] == 5] == ["new"]
