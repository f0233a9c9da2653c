"""Updates by key are committed once: replays, zombies, crashes, other writers, and what is left behind."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate

from connect_core.api import IntervalKey, SinkRecord
from connect_core.errors import ConnectError, StaleEpochError, UnclearOutcomeError
from tests.connectors.contexts import limits_of
from tests.connectors.iceberg.deletes import delete_positions, delete_values
from tests.connectors.iceberg.lake import Lake, numbered

Requirements = tuple[TableRequirement, ...]
Updates = tuple[TableUpdate, ...]
pytestmark = pytest.mark.slow


class Killed(BaseException):
    pass


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    """A table of two files of three rows."""
    lake.set({"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "id"})
    lake.run(numbered([{"id": n, "v": 0} for n in (0, 1, 2)]))
    lake.run(numbered([{"id": n, "v": 0} for n in (10, 11, 12)], first=3), sequence=2)
    return lake


def second(lake: Lake) -> Any:
    """Stage an interval that changes a row of each file."""
    return lake.stage(numbered([{"id": 1, "v": 1}, {"id": 11, "v": 1}, {"id": 20, "v": 1}], first=6), 3)


AFTER = [(0, 0), (1, 1), (2, 0), (10, 0), (11, 1), (12, 0), (20, 1)]


def rows(lake: Lake) -> list[tuple[int, int]]:
    return sorted((row["id"], row["v"]) for row in lake.rows())


def live_files(lake: Lake) -> int:
    """Return how many files the current snapshots name, and those of earlier ones."""
    table = lake.table()
    return len({entry["file_path"] for entry in table.inspect.all_files().to_pylist()})


@pytest.mark.parametrize("point", range(1, 4))
def test_a_driver_killed_at_any_commit_is_followed_by_another(
    keyed: Lake, monkeypatch: pytest.MonkeyPatch, point: int
) -> None:
    """Killed before the decision, between it and the table's commit, and after that with the answer lost."""
    staged, committer, key, seen = second(keyed), keyed.committer(), keyed.key(3), []
    straight = SqlCatalog.commit_table

    def dying(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        seen.append(table.name())
        if len(seen) == point:
            raise Killed
        response = straight(self, table, requirements, updates)
        if len(seen) == point - 1:
            raise Killed
        return response

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", dying)
        with suppress(Killed):
            committer.publish(key, committer.commit(key, staged))
    successor = keyed.committer(2)
    marker = successor.read_marker(key)
    if marker is None:
        assert point == 1
        marker = successor.commit(keyed.key(3, epoch=2), second(keyed))
    successor.publish(key, marker)
    successor.publish(key, marker)
    successor.sweep([])
    assert rows(keyed) == AFTER
    assert len(keyed.table().snapshots()) == 3
    assert len(keyed.data_files()) == live_files(keyed)


def test_an_interval_that_died_while_it_copied_leaves_nothing(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer, key = keyed.committer(), keyed.key(3)
    marker = committer.commit(key, second(keyed))

    def dying(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("connect_core.connectors.iceberg.committer.change_once", dying)
        with pytest.raises(Killed):
            committer.publish(key, marker)
    copies = [place for place in keyed.data_files() if "rewritten" in str(place)]
    assert copies
    keyed.committer(2).publish(key, marker)
    keyed.committer(2).sweep([])
    assert not any(place.exists() for place in copies)
    assert rows(keyed) == AFTER
    assert len(keyed.data_files()) == live_files(keyed)


def test_a_zombie_that_publishes_late_changes_nothing(keyed: Lake) -> None:
    zombie = keyed.committer(1)
    marker = zombie.commit(keyed.key(3), second(keyed))
    successor = keyed.committer(2)
    successor.publish(keyed.key(3), marker)
    later = successor.commit(keyed.key(4, 2), keyed.stage(numbered([{"id": 1, "v": 9}], first=9), 4))
    successor.publish(keyed.key(4, 2), later)
    with pytest.raises(StaleEpochError):
        zombie.publish(keyed.key(3), marker)
    zombie._epoch = None
    zombie.publish(keyed.key(3), marker)
    assert rows(keyed) == [(1, 9) if row == (1, 1) else row for row in AFTER]
    assert len(keyed.table().snapshots()) == 4


def test_two_drivers_publish_at_once_and_one_is_seen(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, others = SqlCatalog.commit_table, list[bool]()

    def overtaken(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        if not others:
            others.append(True)
            keyed.committer(1).publish(keyed.key(3), marker)
        return straight(self, table, requirements, updates)

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", overtaken)
        committer.publish(keyed.key(3), marker)
    assert rows(keyed) == AFTER
    keyed.committer().sweep([])
    assert len(keyed.data_files()) == live_files(keyed)


def test_a_row_added_between_look_and_commit_is_replaced_too(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, others = SqlCatalog.commit_table, [30, 20]
    columns = pa.schema([pa.field("id", pa.int64(), False), pa.field("v", pa.int64())])

    def crowded(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        if others and table.name()[-1] == "orders":
            value = others.pop()
            keyed.table().append(pa.table({"id": [value], "v": [7]}, columns))
        return straight(self, table, requirements, updates)

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", crowded)
        committer.publish(keyed.key(3), marker)
    assert rows(keyed) == [*AFTER, (30, 7)]
    copies = [place for place in keyed.data_files() if "rewritten" in str(place)]
    assert len(copies) == 1, "those of the attempts that were refused are gone at once"


@pytest.mark.parametrize("error", [CommitFailedException, CommitStateUnknownException])
def test_a_commit_whose_response_is_lost_stands_once(
    keyed: Lake, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, lost = SqlCatalog.commit_table, list[bool]()

    def losing(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        response = straight(self, table, requirements, updates)
        if not lost:
            lost.append(True)
            raise error("the connection broke")
        return response

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", losing)
        with suppress(UnclearOutcomeError):
            committer.publish(keyed.key(3), marker)
    keyed.committer(2).publish(keyed.key(3), marker)
    keyed.committer(2).sweep([])
    assert rows(keyed) == AFTER
    assert len(keyed.table().snapshots()) == 3
    assert len(keyed.data_files()) == live_files(keyed)


def test_copies_of_earlier_snapshots_stay_readable(keyed: Lake) -> None:
    for sequence in (3, 4):
        keyed.run(numbered([{"id": 1, "v": sequence}], first=3 + sequence), sequence=sequence)
        keyed.committer().sweep([])
    earlier = [keyed.table().scan(snapshot_id=one.snapshot_id).to_arrow() for one in keyed.table().snapshots()]
    assert [len(one) for one in earlier] == [3, 6, 6, 6]


def test_recounts_tell_copies_from_rows(keyed: Lake) -> None:
    committer, key = keyed.committer(), keyed.key(3)
    committer.publish(key, committer.commit(key, second(keyed)))
    keyed.run(numbered([{"id": 5, "v": 1}], first=9), numbered([{"id": 5, "v": 2}], partition=1), sequence=4)
    gone = keyed.stage([SinkRecord("t", 0, key=1, value=None, kafka_offset=10)], 5)
    committer.publish(keyed.key(5), committer.commit(keyed.key(5), gone))
    found = list(committer.recount(1, IntervalKey(keyed.name, 1, 9, 0)))
    assert [(one.key.sequence, one.rows, one.found, one.differences) for one in found] == [
        (5, 0, 0, ()), (4, 2, 2, ()), (3, 3, 3, ()), (2, 3, 3, ()), (1, 3, 3, ()),
    ]  # fmt: skip


def test_a_branch_is_updated_alone(keyed: Lake) -> None:
    keyed.set({"iceberg.tables.default-commit-branch": "audit"})
    committer = keyed.committer()
    committer.publish(keyed.key(3), committer.commit(keyed.key(3), second(keyed)))
    assert {row[1] for row in rows(keyed)} == {0}
    branch = keyed.table().scan().use_ref("audit").to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in branch) == AFTER


def test_two_deployments_update_a_table_by_connectors_of_one_name(keyed: Lake, tmp_path: Path) -> None:
    """The copies of one are none of a lost attempt to the other."""
    committer = keyed.committer()
    committer.publish(keyed.key(3), committer.commit(keyed.key(3), second(keyed)))
    other = Lake(tmp_path, deployment="there")
    other.set({**keyed.config, "control.namespace": "there"})
    other.run(numbered([{"id": 0, "v": 2}]), sequence=3)
    other.committer().sweep([])
    keyed.committer().sweep([])
    assert rows(keyed) == [(0, 2), *AFTER[1:]]


def test_a_key_column_that_was_dropped_is_named(keyed: Lake) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    with keyed.table().update_schema(allow_incompatible_changes=True) as update:
        update.set_identifier_fields()
        update.delete_column("id")
    with pytest.raises(ConnectError, match=r"table db\.orders has lost the column id"):
        committer.publish(keyed.key(3), marker)


def test_rows_that_others_deleted_by_position_do_not_return(keyed: Lake) -> None:
    file = next(task.file for task in keyed.table().scan().plan_files() if task.file.file_path.count("1-2/"))
    delete_positions(keyed.table(), file.file_path, [0])
    assert rows(keyed) == [(0, 0), (1, 0), (2, 0), (11, 0), (12, 0)]
    committer = keyed.committer()
    committer.publish(keyed.key(3), committer.commit(keyed.key(3), second(keyed)))
    assert rows(keyed) == [row for row in AFTER if row[0] != 10]


def test_a_table_with_equality_deletes_is_refused(keyed: Lake) -> None:
    committer, staged = keyed.committer(), second(keyed)
    delete_values(keyed.table(), "id", 12)
    live = keyed.connector().validate_live(keyed.config, limits_of(keyed.folder))
    assert list(live) == ["iceberg.tables.upsert-mode-enabled"]
    with pytest.raises(ConnectError, match=r"has equality deletes.*rewrite its data files once"):
        second(keyed)
    with pytest.raises(ConnectError, match=r"has equality deletes.*rewrite its data files once"):
        committer.publish(keyed.key(3), committer.commit(keyed.key(3), staged))
