"""What is committed once: replays, zombies, crashes between steps, and other writers."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate

from connect_core.api import TopicPartition
from connect_core.errors import ConfigError, ConnectError, RetriableError, StaleEpochError
from tests.connectors.iceberg.lake import Lake, numbered

Requirements = tuple[TableRequirement, ...]
Updates = tuple[TableUpdate, ...]
pytestmark = pytest.mark.slow

BY_TOPIC = {"iceberg.tables": "", "table.name.format": "db.${topic}"}


class Killed(BaseException):
    pass


def two_topics(first: int = 0) -> list[Any]:
    return [*numbered([{"a": first}], "one", first=first), *numbered([{"b": first}], "two", first=first)]


def test_an_interval_is_one_snapshot_that_says_what_it_is(lake: Lake) -> None:
    marker = lake.run(numbered([{"a": 1}, {"a": 2}]), numbered([{"a": 3}], partition=4), sequence=7)
    (snapshot,) = lake.table().snapshots()
    summary = snapshot.summary.additional_properties
    assert marker.positions == {("t", 0): 2, ("t", 4): 1}
    assert summary["added-data-files"] == "2"
    assert summary["added-records"] == "3"
    found = {key.removeprefix("connect-core."): value for key, value in summary.items() if key.startswith("connect-")}
    assert json.loads(found.pop("offsets")) == {"t": {"0": 2, "4": 1}}
    assert found == {"connector": "copy", "deployment": "here", "incarnation": "1", "sequence": "7", "epoch": "1"}
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 3]


@pytest.mark.parametrize("point", range(1, 5))
def test_a_driver_killed_between_tables_is_followed_by_another(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, point: Any
) -> None:
    """Every commit in a catalog is a place to die: before it, and after it with the answer lost."""
    lake.set(BY_TOPIC)
    lake.run(two_topics())
    staged = lake.stage(two_topics(1), 2)
    committer, key, seen = lake.committer(), lake.key(2), []
    straight = SqlCatalog.commit_table

    def dying(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        seen.append(table.name())
        if len(seen) == point:
            raise Killed
        response = straight(self, table, requirements, updates)
        if len(seen) == point - 1:
            raise Killed
        return response

    monkeypatch.setattr(SqlCatalog, "commit_table", dying)
    with suppress(Killed):
        committer.publish(key, committer.commit(key, staged))
    monkeypatch.setattr(SqlCatalog, "commit_table", straight)

    successor = lake.committer(2)
    marker = successor.read_marker(key)
    if marker is None:
        assert len(seen) == 1
        marker = successor.commit(lake.key(2, epoch=2), lake.stage(two_topics(1), 2))
    successor.publish(key, marker)
    successor.sweep([])
    assert lake.rows("db.one") == [{"a": 1}, {"a": 0}]
    assert lake.rows("db.two") == [{"b": 1}, {"b": 0}]
    assert len(lake.data_files()) == 4


def test_a_zombie_that_publishes_late_appends_nothing(lake: Lake) -> None:
    zombie = lake.committer(1)
    marker = zombie.commit(lake.key(1), lake.stage(numbered([{"a": 1}])))
    successor = lake.committer(2)
    successor.publish(lake.key(1), marker)
    later = successor.commit(lake.key(2, 2), lake.stage(numbered([{"a": 2}], first=1), 2))
    successor.publish(lake.key(2, 2), later)
    with pytest.raises(StaleEpochError) as stale:
        zombie.publish(lake.key(1), marker)
    assert stale.value.epoch == 2
    zombie._epoch = None
    zombie.publish(lake.key(1), marker)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]
    assert len(lake.table().snapshots()) == 2


def test_a_zombie_that_was_checked_before_the_fence_commits_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fence comes between the zombie's look and its commit: the commit is conditional on what it saw."""
    zombie, staged = lake.committer(1), lake.stage(numbered([{"a": 1}]))
    straight = SqlCatalog.commit_table
    fenced: list[bool] = []

    def late(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        if not fenced:
            fenced.append(True)
            lake.committer(2)
        return straight(self, table, requirements, updates)

    monkeypatch.setattr(SqlCatalog, "commit_table", late)
    with pytest.raises(StaleEpochError):
        zombie.commit(lake.key(1), staged)
    assert lake.committer(2).read_marker(lake.key(1)) is None


def test_two_drivers_publish_at_once_and_one_appends(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer = lake.committer()
    marker = committer.commit(lake.key(), lake.stage(numbered([{"a": 1}])))
    straight = SqlCatalog.commit_table
    others: list[bool] = []

    def overtaken(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        if not others:
            others.append(True)
            lake.committer(1).publish(lake.key(), marker)
        return straight(self, table, requirements, updates)

    monkeypatch.setattr(SqlCatalog, "commit_table", overtaken)
    committer.publish(lake.key(), marker)
    assert lake.rows() == [{"a": 1}]


def test_other_writers_between_look_and_commit_lose_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.run(numbered([{"a": 1}]))
    straight, others = SqlCatalog.commit_table, [10, 11, 12]

    def crowded(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        if others and table.name()[-1] == "orders":
            value = others.pop()
            lake.table().append(pa.table({"a": pa.array([value], pa.int64())}))
        return straight(self, table, requirements, updates)

    monkeypatch.setattr(SqlCatalog, "commit_table", crowded)
    lake.run(numbered([{"a": 2}], first=1), sequence=2)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 10, 11, 12]


def test_a_commit_that_took_place_and_was_refused_when_sent_again_stands(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight, refused = SqlCatalog.commit_table, []

    def twice(self: SqlCatalog, table: Table, requirements: Requirements, updates: Updates) -> CommitTableResponse:
        response = straight(self, table, requirements, updates)
        if table.name() not in refused:
            refused.append(table.name())
            raise CommitFailedException("it was sent again by a proxy")
        return response

    committer, staged = lake.committer(), lake.stage(numbered([{"a": 1}]))
    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", twice)
        committer.publish(lake.key(), committer.commit(lake.key(), staged))
    assert len(refused) == 2
    lake.run(numbered([{"a": 2}], first=1), sequence=2)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]
    marker = lake.committer(2).read_marker(lake.key())
    assert marker is not None
    assert marker.positions == {TopicPartition("t", 0): 1}


def test_markers_outlive_their_snapshots(lake: Lake) -> None:
    marker = lake.run(numbered([{"a": 1}]))
    lake.table().append(pa.table({"a": pa.array([5], pa.int64())}))
    table = lake.table()
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    lake.committer(2).publish(lake.key(), marker)
    assert sorted(row["a"] for row in lake.rows()) == [1, 5]


def test_earlier_intervals_are_found_by_a_database_that_was_restored(lake: Lake) -> None:
    for number in range(5):
        lake.run(numbered([{"a": number}], first=number), sequence=number + 1)
    lake.committer().abandon(lake.key(6), None)
    committer = lake.committer(2)
    found = [committer.read_marker(lake.key(sequence)) for sequence in range(1, 8)]
    assert [None if one is None else one.positions for one in found] == [
        *({TopicPartition("t", 0): number + 1} for number in range(5)), {}, None,
    ]  # fmt: skip
    assert found[5] is not None
    assert found[5].aborted
    assert committer.last_interval() == (1, 6)


def test_another_deployment_is_refused_until_the_connector_is_deleted(lake: Lake, tmp_path: Path) -> None:
    lake.run(numbered([{"a": 1}]))
    other = Lake(tmp_path, deployment="there")
    with pytest.raises(ConfigError, match="of the deployment here writes there"):
        other.committer(2)
    reader = other.connector().committer(other.config)
    assert reader is not None
    marker = reader.read_marker(lake.key())
    assert marker is not None
    assert marker.is_foreign
    lake.committer(2).release()
    other.committer(3)


def test_a_new_control_table_believes_no_marker_of_the_old_one(lake: Lake) -> None:
    lake.run(numbered([{"a": 1}]))
    lake.catalog.drop_table("connect.copy")
    lake.run(numbered([{"a": 2}], first=1))
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_what_the_old_control_table_committed_is_no_leftover_of_the_new_one(lake: Lake) -> None:
    lake.run(numbered([{"a": 1}]))
    lake.catalog.drop_table("connect.copy")
    lake.run(numbered([{"a": 2}], first=1))
    lake.committer().sweep([])
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_two_deployments_write_a_table_by_connectors_of_one_name(lake: Lake, tmp_path: Path) -> None:
    """Their intervals have the same numbers: neither removes what the other has staged or committed."""
    other = Lake(tmp_path, deployment="there")
    other.set({"control.namespace": "there"})
    lake.run(numbered([{"a": 1}]))
    staged = other.stage(numbered([{"a": 2}]))
    lake.committer().sweep([])
    committer = other.committer()
    committer.publish(other.key(), committer.commit(other.key(), staged))
    committer.sweep([])
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_an_interval_is_appended_once_beside_a_deployment_of_the_same_name(lake: Lake, tmp_path: Path) -> None:
    """A driver dies before it has recorded the interval; the other one commits before the next driver comes."""
    other = Lake(tmp_path)
    other.set({"control.namespace": "there"})
    lake.run(numbered([{"a": 1}]))
    other.run(numbered([{"a": 2}]))
    successor = lake.committer(2)
    marker = successor.read_marker(lake.key())
    assert marker is not None
    successor.publish(lake.key(), marker)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_a_table_that_is_gone_before_its_rows_arrive_is_named(lake: Lake) -> None:
    committer = lake.committer()
    marker = committer.commit(lake.key(), lake.stage(numbered([{"a": 1}])))
    lake.catalog.drop_table("db.orders")
    with pytest.raises(ConnectError, match=r"table db\.orders is gone"):
        committer.publish(lake.key(), marker)
    lake.catalog.create_table("db.orders", pa.schema([pa.field("a", pa.int64())]))
    committer.publish(lake.key(), marker)
    assert lake.rows() == []


def test_a_catalog_that_fails_is_asked_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer, staged = lake.committer(), lake.stage(numbered([{"a": 1}]))

    def failing(*_: Any) -> Any:
        raise CommitFailedException("somebody else was first")

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", failing)
        patched.setattr("connect_core.connectors.lake.decisions._LONGEST_PAUSE", 0.0)
        with pytest.raises(RetriableError, match="changed by others"):
            committer.commit(lake.key(), staged)
    committer.publish(lake.key(), committer.commit(lake.key(), staged))
    assert lake.rows() == [{"a": 1}]


def test_leftovers_of_lost_attempts_are_swept_and_nothing_else(lake: Lake) -> None:
    kept = lake.stage(numbered([{"a": 1}]))
    lake.stage(numbered([{"a": 1}]))
    committer = lake.committer()
    committer.sweep([])
    assert len(lake.data_files()) == 2, "an interval that is not decided may still run"
    committer.publish(lake.key(), committer.commit(lake.key(), kept))
    committer.sweep([lake.key()])
    assert len(lake.data_files()) == 2
    committer.sweep([])
    assert len(lake.data_files()) == 1
    assert lake.rows() == [{"a": 1}]


def test_the_control_table_does_not_grow(lake: Lake) -> None:
    def files() -> int:
        return sum(1 for place in (lake.folder / "warehouse" / "connect").rglob("*") if place.suffix != ".json")

    for number in range(4):
        lake.run(numbered([{"a": number}], first=number), sequence=number + 1)
    before = files()
    for number in range(4, 12):
        lake.run(numbered([{"a": number}], first=number), sequence=number + 1)
    assert files() == before
    assert len(lake.table("connect.copy").snapshots()) == 1


def test_a_namespace_that_another_task_has_just_made_is_there(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """An SQL catalog looks, then inserts: a race that Spark's tasks did lose."""
    look, made = SqlCatalog.namespace_exists, []

    def late(catalog: SqlCatalog, name: Any) -> bool:
        found: bool = look(catalog, name)
        if not found and name not in made:
            made.append(name)
            lake.catalog.create_namespace(name)
        return found

    monkeypatch.setattr(SqlCatalog, "namespace_exists", late)
    lake.run(numbered([{"a": 1}]))
    assert lake.rows() == [{"a": 1}]
    assert {name[0] for name in made} == {"db", "connect"}


@pytest.mark.parametrize("warehouse", ["warehouse", "a folder/ware%20house"])
def test_files_that_only_a_tasks_machine_has_are_not_committed(lake: Lake, warehouse: str) -> None:
    """A warehouse that the machines do not share: the driver does not see what a task has written."""
    lake.set({"iceberg.catalog.warehouse": warehouse})
    staged, committer = lake.stage(numbered([{"a": 1}])), lake.committer()
    (data,) = (path for path in lake.folder.rglob("*.parquet") if "connect" in path.parts)
    data.rename(lake.folder / "on-another-machine")
    with pytest.raises(RetriableError, match=r"iceberg\.catalog\.warehouse: a task has written .* no such file"):
        committer.commit(lake.key(), staged)
    assert committer.read_marker(lake.key()) is None
    (lake.folder / "on-another-machine").rename(data)
    committer.publish(lake.key(), committer.commit(lake.key(), staged))
    assert lake.rows() == [{"a": 1}]
