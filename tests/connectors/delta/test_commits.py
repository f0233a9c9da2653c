"""What is committed once: replays, zombies, crashes between steps, and other writers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.table import TableAlterer

from connect_core.api import TopicPartition
from connect_core.errors import ConfigError, ConnectError, RetriableError, StaleEpochError
from tests.connectors.delta.lake import Lake, killed_at, numbered

pytestmark = pytest.mark.slow


def two_topics(first: int = 0) -> list[Any]:
    return [*numbered([{"a": first}], "one", first=first), *numbered([{"b": first}], "two", first=first)]


def test_an_interval_is_one_version_that_says_what_it_is(lake: Lake) -> None:
    marker = lake.run(numbered([{"a": 1}, {"a": 2}]), numbered([{"a": 3}], partition=4), sequence=7)
    (entry, _) = lake.table().history()
    assert marker.positions == {("t", 0): 2, ("t", 4): 1}
    found = {key.removeprefix("connect-core."): value for key, value in entry.items() if key.startswith("connect-")}
    assert json.loads(found.pop("offsets")) == {"t": {"0": 2, "4": 1}}
    assert found == {"connector": "copy", "deployment": "here", "incarnation": "1", "sequence": "7", "epoch": "1"}
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 3]


@pytest.mark.parametrize("answers", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", ["decision", "one", "two"])
def test_a_driver_killed_between_tables_is_followed_by_another(lake: Lake, point: str, answers: bool) -> None:
    """Every commit is a place to die: before it, and after it with the answer lost."""
    lake.run(two_topics())
    staged = lake.stage(two_topics(1), 2)
    committer, key = lake.committer(), lake.key(2)
    with killed_at(1 + ["decision", "one", "two"].index(point), answers=answers):
        committer.publish(key, committer.commit(key, staged))

    successor = lake.committer(2)
    marker = successor.read_marker(key)
    assert (marker is None) == (point == "decision" and not answers)
    if marker is None:
        marker = successor.commit(lake.key(2, epoch=2), lake.stage(two_topics(1), 2))
    successor.publish(key, marker)
    successor.sweep([])
    assert sorted(row["a"] for row in lake.rows("one")) == [0, 1]
    assert sorted(row["b"] for row in lake.rows("two")) == [0, 1]
    assert len(lake.data_files()) == 4


def test_what_a_lost_state_committed_is_no_leftover_of_the_new_one(lake: Lake) -> None:
    lake.run(numbered([{"a": 1}]))
    shutil.rmtree(lake.folder / "lake" / "_connect" / "copy")
    lake.run(numbered([{"a": 2}], first=1))
    lake.committer().sweep([])
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_a_table_that_is_partitioned_otherwise_before_its_rows_arrive_is_named(lake: Lake) -> None:
    """Readers would take the column from the log, which does not have the rows' values."""
    lake.run(numbered([{"a": 1, "b": "x"}]))
    committer = lake.committer()
    marker = committer.commit(lake.key(2), lake.stage(numbered([{"a": 2, "b": "y"}], first=1), 2))
    rows = pa.table({"a": pa.array([7]), "b": ["x"]})
    write_deltalake(lake.table(), rows, mode="overwrite", schema_mode="overwrite", partition_by=["b"])
    with pytest.raises(ConnectError, match=r"table t is partitioned by b since .* partitioned by nothing: restore"):
        committer.publish(lake.key(2), marker)
    lake.table().restore(1)
    committer.publish(lake.key(2), marker)
    assert sorted((row["a"], row["b"]) for row in lake.rows()) == [(1, "x"), (2, "y")]


def test_a_zombie_that_publishes_late_appends_nothing(lake: Lake) -> None:
    zombie = lake.committer(1)
    marker = zombie.commit(lake.key(1), lake.stage(numbered([{"a": 1}])))
    successor = lake.committer(2)
    successor.publish(lake.key(1), marker)
    successor.publish(lake.key(2, 2), successor.commit(lake.key(2, 2), lake.stage(numbered([{"a": 2}], first=1), 2)))
    with pytest.raises(StaleEpochError):
        zombie.publish(lake.key(1), marker)
    zombie._epoch = None
    zombie.publish(lake.key(1), marker)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]


def test_a_zombie_that_was_checked_before_the_fence_commits_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    zombie, staged = lake.committer(1), lake.stage(numbered([{"a": 1}]))
    straight = TableAlterer.set_table_properties
    fenced: list[bool] = []

    def late(*args: Any, **kwargs: Any) -> None:
        if not fenced:
            fenced.append(True)
            lake.committer(2)
        straight(*args, **kwargs)

    monkeypatch.setattr(TableAlterer, "set_table_properties", late)
    with pytest.raises(StaleEpochError):
        zombie.commit(lake.key(1), staged)
    assert lake.committer(2).read_marker(lake.key(1)) is None


def test_others_between_look_and_commit_lose_nothing_and_double_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign writer, and a second driver that publishes the same interval, come first."""
    lake.run(numbered([{"a": 1}]))
    committer = lake.committer()
    marker = committer.commit(lake.key(2), lake.stage(numbered([{"a": 2}], first=1), 2))
    straight, others = DeltaTable.create_write_transaction, [0, 1]

    def crowded(*args: Any, **kwargs: Any) -> None:
        if others and others.pop() == 1:
            write_deltalake(str(lake.folder / "lake" / "t"), pa.table({"a": [10]}), mode="append")
        elif len(others) == 0 and not done:
            done.append(True)
            lake.committer().publish(lake.key(2), marker)
        straight(*args, **kwargs)

    done: list[bool] = []
    monkeypatch.setattr(DeltaTable, "create_write_transaction", crowded)
    committer.publish(lake.key(2), marker)
    assert done
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 10]


def test_earlier_intervals_are_found_by_a_database_that_was_restored(lake: Lake) -> None:
    for number in range(5):
        lake.run(numbered([{"a": number}], first=number), sequence=number + 1)
    lake.committer().abandon(lake.key(6), None)
    committer = lake.committer(2)
    found = [committer.read_marker(lake.key(sequence)) for sequence in range(1, 8)]
    assert [None if one is None else one.positions for one in found] == [
        *({TopicPartition("t", 0): number + 1} for number in range(5)), {}, None,
    ]  # fmt: skip
    assert committer.last_interval() == (1, 6)


def test_another_deployment_is_refused_until_the_connector_is_deleted(lake: Lake, tmp_path: Path) -> None:
    lake.run(numbered([{"a": 1}]))
    other = Lake(tmp_path, "there")
    with pytest.raises(ConfigError, match="of the deployment here writes there"):
        other.committer(2)
    lake.committer(2).release()
    other.committer(3)


def test_a_table_that_is_gone_before_its_rows_arrive_is_named(lake: Lake) -> None:
    committer = lake.committer()
    marker = committer.commit(lake.key(), lake.stage(numbered([{"a": 1}])))
    (lake.folder / "lake" / "t").rename(lake.folder / "elsewhere")
    with pytest.raises(ConnectError, match="table t is gone"):
        committer.publish(lake.key(), marker)
    DeltaTable.create(str(lake.folder / "lake" / "t"), pa.schema([pa.field("a", pa.int64())]))
    committer.publish(lake.key(), marker)
    assert lake.rows() == []


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


def test_files_that_only_a_tasks_machine_has_are_not_committed(lake: Lake) -> None:
    """A folder that the machines do not share: the driver does not see what a task has written."""
    staged, committer = lake.stage(numbered([{"a": 1}])), lake.committer()
    (data,) = lake.data_files()
    data.rename(lake.folder / "on-another-machine")
    with pytest.raises(RetriableError, match=r"configuration path: a task has written .* no such file"):
        committer.commit(lake.key(), staged)
    assert committer.read_marker(lake.key()) is None
    (lake.folder / "on-another-machine").rename(data)
    committer.publish(lake.key(), committer.commit(lake.key(), staged))
    assert lake.rows() == [{"a": 1}]


def table_of_another_engine(
    lake: Lake, *features: str, column: dict[str, Any] | None = None, configuration: dict[str, str] | None = None
) -> None:
    """Add what another engine may have set to the log of the table, as its next version."""
    log = lake.folder / "lake" / "t" / "_delta_log"
    version = len(list(log.glob("*.json")))
    fields = [{"name": "a", "type": "long", "nullable": True, "metadata": column or {}}]
    meta = {
        "id": str(lake.table().metadata().id),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": configuration or {},
        "createdTime": 1,
    }
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": list(features)}
    if configuration and "delta.columnMapping.mode" in configuration:
        protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    entries = [{"protocol": protocol}, {"metaData": meta}]
    (log / f"{version:020d}.json").write_text("\n".join(map(json.dumps, entries)))


@pytest.mark.parametrize(
    ("features", "changes", "message"),
    [
        (
            [],
            {
                "configuration": {"delta.columnMapping.mode": "name"},
                "column": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"},
            },
            "table t maps the names of its columns",
        ),
        (["checkConstraints"], {"configuration": {"delta.constraints.low": "a < 2"}}, "has the constraint low"),
        (["generatedColumns"], {"column": {"delta.generationExpression": "1"}}, "delta.generationExpression"),
        (["invariants"], {"column": {"delta.invariants": "{}"}}, "delta.invariants, which is not kept here"),
        (["rowTracking", "domainMetadata"], {}, "features that only other engines write.*RowTracking"),
    ],
)
def test_a_table_that_promises_more_than_is_kept_is_refused_at_once(
    lake: Lake, features: list[str], changes: dict[str, Any], message: str
) -> None:
    lake.run(numbered([{"a": 1}]))
    staged = lake.stage(numbered([{"a": 2}], first=1), sequence=2)
    table_of_another_engine(lake, *features, **changes)
    committer, interval = lake.committer(2), lake.key(2, 2)
    marker = committer.commit(interval, staged)
    with pytest.raises(ConnectError, match=message) as found:
        committer.publish(interval, marker)
    assert not isinstance(found.value, RetriableError)
    if changes:
        with pytest.raises(ConnectError, match=message):
            lake.stage(numbered([{"a": 3}], first=2), sequence=3)
