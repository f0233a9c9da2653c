"""Updates by key are committed once: replays, zombies, crashes, other writers, and what is left behind."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from connect_core.api import IntervalKey, SinkRecord
from connect_core.errors import ConnectError, StaleEpochError
from tests.connectors.delta.lake import Killed, Lake, killed_at, numbered

pytestmark = pytest.mark.slow


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    """A table of two files of three rows."""
    lake.set({"upsert.enabled": "true", "id.columns": "id"})
    lake.run(numbered([{"id": n, "v": 0} for n in (0, 1, 2)]))
    lake.run(numbered([{"id": n, "v": 0} for n in (10, 11, 12)], first=3), sequence=2)
    return lake


def second(lake: Lake) -> Any:
    """Stage an interval that changes a row of each file."""
    return lake.stage(numbered([{"id": 1, "v": 1}, {"id": 11, "v": 1}, {"id": 20, "v": 1}], first=6), 3)


AFTER = [(0, 0), (1, 1), (2, 0), (10, 0), (11, 1), (12, 0), (20, 1)]
FILES = 4
"""Those of the first two intervals, and a copy and a new one: nothing else is left once the interval is swept."""


def rows(lake: Lake) -> list[tuple[int, int]]:
    return sorted((row["id"], row["v"]) for row in lake.rows())


def copies(lake: Lake) -> list[Any]:
    return [place for place in lake.data_files() if "rewritten" in str(place)]


@pytest.mark.parametrize("answers", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", ["decision", "table"])
def test_a_driver_killed_at_any_commit_is_followed_by_another(keyed: Lake, point: str, answers: bool) -> None:
    staged, committer, key = second(keyed), keyed.committer(), keyed.key(3)
    with killed_at(1 + ["decision", "table"].index(point), answers=answers):
        committer.publish(key, committer.commit(key, staged))
    successor = keyed.committer(2)
    marker = successor.read_marker(key)
    assert (marker is None) == (point == "decision" and not answers)
    if marker is None:
        marker = successor.commit(keyed.key(3, epoch=2), second(keyed))
    successor.publish(key, marker)
    successor.publish(key, marker)
    successor.sweep([])
    assert rows(keyed) == AFTER
    assert len(keyed.table().history()) == 4
    assert len(keyed.data_files()) == FILES


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
    assert len(keyed.table().history()) == 5


def test_two_drivers_publish_at_once_and_one_is_seen(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, others = DeltaTable.create_write_transaction, list[bool]()

    def overtaken(self: DeltaTable, *args: Any, **kwargs: Any) -> None:
        if not others:
            others.append(True)
            keyed.committer(1).publish(keyed.key(3), marker)
        straight(self, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTable, "create_write_transaction", overtaken)
        committer.publish(keyed.key(3), marker)
    assert rows(keyed) == AFTER
    assert len(copies(keyed)) == 2
    keyed.committer().sweep([])
    assert len(keyed.data_files()) == FILES


def test_a_row_added_between_look_and_commit_is_replaced_too(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, others = DeltaTable.create_write_transaction, [30, 20]
    columns = pa.schema([pa.field("id", pa.int64(), False), pa.field("v", pa.int64())])

    def crowded(self: DeltaTable, *args: Any, **kwargs: Any) -> None:
        if others:
            write_deltalake(self.table_uri, pa.table({"id": [others.pop()], "v": [7]}, columns), mode="append")
        straight(self, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTable, "create_write_transaction", crowded)
        committer.publish(keyed.key(3), marker)
    assert rows(keyed) == [*AFTER, (30, 7)]
    assert len(copies(keyed)) == 1, "those of the attempts that were refused are gone at once"


@pytest.mark.parametrize("error", [CommitFailedError, Killed, OSError])
def test_a_commit_whose_response_is_lost_stands_once(
    keyed: Lake, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    committer = keyed.committer()
    marker = committer.commit(keyed.key(3), second(keyed))
    straight, lost = DeltaTable.create_write_transaction, list[bool]()

    def losing(self: DeltaTable, *args: Any, **kwargs: Any) -> None:
        straight(self, *args, **kwargs)
        if not lost:
            lost.append(True)
            raise error("the connection broke")

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTable, "create_write_transaction", losing)
        with suppress(Killed, ConnectError):
            committer.publish(keyed.key(3), marker)
    keyed.committer(2).publish(keyed.key(3), marker)
    keyed.committer(2).sweep([])
    assert rows(keyed) == AFTER
    assert len(keyed.table().history()) == 4
    assert len(keyed.data_files()) == FILES


def test_earlier_versions_stay_readable(keyed: Lake) -> None:
    for sequence in (3, 4):
        keyed.run(numbered([{"id": 1, "v": sequence}], first=3 + sequence), sequence=sequence)
        keyed.committer().sweep([])
    place = str(keyed.folder / "lake" / "t")
    assert [DeltaTable(place, version=n).to_pyarrow_table().num_rows for n in range(5)] == [0, 3, 6, 6, 6]


def test_recounts_find_no_difference(keyed: Lake) -> None:
    committer, key = keyed.committer(), keyed.key(3)
    committer.publish(key, committer.commit(key, second(keyed)))
    gone = keyed.stage([SinkRecord("t", 0, key=1, value=None, kafka_offset=10)], 4)
    committer.publish(keyed.key(4), committer.commit(keyed.key(4), gone))
    found = list(committer.recount(1, IntervalKey("copy", 1, 9, 0)))
    assert [(one.key.sequence, one.rows, one.found, one.differences) for one in found] == [
        (4, 0, 0, ()), (3, 3, None, ()), (2, 3, None, ()), (1, 3, None, ()),
    ]  # fmt: skip
