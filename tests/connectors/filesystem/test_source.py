"""Files as the file system source finds, shares out and reads them."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from connect_core.connectors.filesystem.source import files_read as source_record
from connect_core.connectors.filesystem.source import pieces as source_pieces
from connect_core.connectors.filesystem.source import plan as source_plan
from connect_core.errors import ConnectError, DataError
from connect_core.testing.source_engine import Lane, Position, position_after
from tests.connectors.filesystem.reading import Reading, put

pytestmark = pytest.mark.slow


@pytest.fixture(params=list(Lane), ids=lambda lane: lane.value)
def reading(request: pytest.FixtureRequest, tmp_path: Path) -> Reading:
    return Reading(tmp_path, request.param)


def test_new_files_are_found_at_each_plan(reading: Reading, tmp_path: Path) -> None:
    put(tmp_path / "in/a.txt", "1\n2\n", 100)
    put(tmp_path / "in/deep/er/b.txt", "3", 200)
    assert reading.values() == ["1", "2", "3"]
    assert reading.values() == []
    put(tmp_path / "in/c.txt", "4\n", 150)
    assert reading.values() == ["4"]
    assert reading.values() == []


def test_the_folder_may_come_later(reading: Reading, tmp_path: Path) -> None:
    assert reading.values() == []
    put(tmp_path / "in/a.txt", "1\n")
    assert reading.values() == ["1"]


def test_one_task_reads_in_order_of_time(tmp_path: Path) -> None:
    for number in range(20):
        put(tmp_path / f"in/{(number * 7) % 20:02}.txt", f"{number}\n", 1000 + number)
    assert Reading(tmp_path).values() == [str(number) for number in range(20)]


def test_files_are_shared_out(tmp_path: Path) -> None:
    for number in range(9):
        put(tmp_path / f"in/{number}.txt", f"{number}\n")
    reading = Reading(tmp_path, Lane.BATCHES, 3)
    records = reading.interval()
    assert sorted(record.value for record in records) == [str(number) for number in range(9)]
    slots = [record.source_partition["slot"] for record in records]
    assert [slots.count(slot) for slot in range(3)] == [3, 3, 3]
    assert Reading.until_idle(reading) == []


def test_another_number_of_tasks_reads_nothing_twice(tmp_path: Path) -> None:
    reading = Reading(tmp_path, Lane.BATCHES, 4)
    for number in range(8):
        put(tmp_path / f"in/{number}.txt", f"{number}\n")
    reading.interval()
    fewer = Reading(tmp_path, Lane.BATCHES, 2)
    fewer.position = reading.position
    assert fewer.until_idle() == []
    put(tmp_path / "in/new.txt", "new\n")
    assert fewer.until_idle() == ["new"]


def test_a_slot_without_a_task_of_its_own_is_read_to_its_end(tmp_path: Path) -> None:
    reading = Reading(tmp_path, Lane.RECORDS, 4)
    for number in range(8):
        put(tmp_path / f"in/{number}.txt", f"{number}a\n{number}b\n")
    polls = reading.engine.read()
    begun = [poll for poll in polls if poll.records[0].value == "3a"]
    cut = [type(poll)(poll.records[:1], poll.states) for poll in begun]
    fewer = Reading(tmp_path, Lane.BATCHES, 1)
    fewer.position = position_after(cut)
    assert sorted(fewer.until_idle()) == sorted({f"{n}{p}" for n in range(8) for p in "ab"} - {"3a"})


def test_unfinished_hidden_and_linked_files_are_left_alone(reading: Reading, tmp_path: Path) -> None:
    for name in (
        ".a.txt",
        "_a.txt",
        "a.txt.tmp",
        "b.part",
        "_SUCCESS",
        ".hidden/x.txt",
        "_connect/x.txt",
        "c._COPYING_",
    ):
        put(tmp_path / "in" / name, "no\n")
    put(tmp_path / "outside.txt", "no\n")
    (tmp_path / "in/link.txt").symlink_to(tmp_path / "outside.txt")
    put(tmp_path / "other/x.txt", "no\n")
    (tmp_path / "in/folder").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "in/pipe.txt")
    put(tmp_path / "in/empty.txt", "")
    assert reading.values() == []


def test_a_file_must_have_been_left_alone(tmp_path: Path) -> None:
    reading = Reading(tmp_path, **{"file.settle.ms": "1500"})
    put(tmp_path / "in/a.txt", "1\n", at=100)
    # Its modification is old, as after cp -p; that it came is not.
    assert reading.values() == []
    time.sleep(1.6)
    assert reading.values() == ["1"]


@pytest.mark.parametrize(
    "name", ["a b.txt", "Zoë\u2028x.txt", "x\n.txt", "%41.txt", "a'\"\\.txt", "-rf", "..txt..", "a:b|c"]
)
def test_any_name_is_a_name(tmp_path: Path, name: str) -> None:
    reading = Reading(tmp_path)
    put(tmp_path / "in" / name, "1\n")
    assert reading.values() == ([] if name.startswith(".") else ["1"])
    assert reading.values() == []


def test_a_name_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "in/a.txt", "1\n")
    (tmp_path / "in" / os.fsdecode(b"\xff.txt")).write_text("2\n")
    assert Reading(tmp_path).values() == ["1"]


def test_pattern_chooses_files(tmp_path: Path) -> None:
    put(tmp_path / "in/orders/a.csv", "1\n")
    put(tmp_path / "in/orders/a.txt", "2\n")
    put(tmp_path / "in/a.csv", "3\n")
    assert Reading(tmp_path, **{"file.pattern": r"orders/.*\.csv"}).values() == ["1"]


def test_files_without_rows_end_no_progress(tmp_path: Path) -> None:
    reading = Reading(tmp_path, format="csv")
    for number in range(5):
        put(tmp_path / f"in/empty{number}.csv", "a,b\n", 100 + number)
    assert reading.values() == []
    put(tmp_path / "in/full.csv", "a,b\n1,2\n", 200)
    put(tmp_path / "in/last.csv", "a,b\n", 300)
    assert [value.get("a") for value in reading.values()] == ["1"]
    assert reading.values() == []


def test_a_file_that_changes_before_it_is_begun_is_read_as_it_is_then(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    for number, name in enumerate("abc"):
        put(tmp_path / f"in/{name}.txt", f"{name}\n", 100 + number)
    bound = reading.engine.bound(Position())
    put(tmp_path / "in/b.txt", "new\n", 150)
    polls = reading.engine.read(bound=bound)
    assert [record.value for poll in polls for record in poll.records] == ["a"]
    reading.position = position_after(polls)
    assert reading.until_idle() == ["c", "new"]


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_file_that_goes_before_it_is_begun_is_read_if_it_comes_back(tmp_path: Path, comes_back: bool) -> None:
    reading = Reading(tmp_path, **{"after.commit": "delete"})
    for number, name in enumerate("abc"):
        put(tmp_path / f"in/{name}.txt", f"{name}\n", 100 + number)
    bound = reading.engine.bound(Position())
    (tmp_path / "in/b.txt").rename(tmp_path / "away")
    polls = reading.engine.read(bound=bound)
    reading.position = position_after(polls)
    assert [record.value for poll in polls for record in poll.records] == ["a"]
    if comes_back:
        (tmp_path / "away").rename(tmp_path / "in/b.txt")
    assert reading.until_idle() == (["b", "c"] if comes_back else ["c"])
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_file_that_changes_half_way_is_named(tmp_path: Path, is_gone: bool) -> None:
    reading, file = Reading(tmp_path, Lane.RECORDS), tmp_path / "in/a.txt"
    put(file, "1\n2\n3\n")
    (poll,) = reading.engine.read()
    position = position_after([type(poll)(poll.records[:1], poll.states)])
    bound = reading.engine.bound(position)
    if is_gone:
        file.unlink()
    else:
        put(file, "1\n2\n3\n4\n")
    with pytest.raises(ConnectError, match=r"a\.txt (is gone|has changed) after some of its rows were read"):
        reading.engine.follow(position, Lane.BATCHES, bound)
    with pytest.raises(ConnectError, match=r"behavior\.on\.changed\.files=skip"):
        reading.engine.bound(position)
    lenient = Reading(tmp_path, **{"behavior.on.changed.files": "skip"})
    assert lenient.engine.follow(position, Lane.BATCHES, bound) == []
    lenient.position = position
    assert lenient.values() == ([] if is_gone else ["1", "2", "3", "4"])


def test_a_file_written_again_is_another_file(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    put(tmp_path / "in/a.txt", "1\n", 100)
    reading.values()
    put(tmp_path / "in/a.txt", "2\n", 200)
    assert reading.values() == ["2"]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    put(tmp_path / "in/a.parquet", b"no parquet at all")
    with pytest.raises(DataError, match=r"a\.parquet is not a Parquet file"):
        Reading(tmp_path, format="parquet").values()


def test_offsets_stay_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_record, "KEPT", 10)
    monkeypatch.setattr(source_plan, "MOST_PIECES", 25)
    reading = Reading(tmp_path)
    for number in range(300):
        put(tmp_path / f"in/{number:04}.txt", f"{number}\n", 1000 + number // 7)
    assert reading.until_idle() == [str(number) for number in range(300)]
    (offset,) = reading.position.offsets.values()
    assert len(offset["done"].split()) == 10
    # Of those that come late, the ones newer than the ten newest are found.
    put(tmp_path / "in/9999.txt", "late\n", 1041)
    put(tmp_path / "in/0000b.txt", "too late\n", 1000)
    assert reading.until_idle() == ["late"]


def test_many_files_are_planned_in_seconds(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(20_000):
        (tmp_path / f"in/{number}.txt").write_bytes(b"1\n")
    reading = Reading(tmp_path)
    begin = time.monotonic()
    bound = reading.engine.bound(Position())
    assert time.monotonic() - begin < 5
    assert bound is not None
    assert len(str(bound)) < 200_000


@pytest.mark.parametrize("tasks", [1, 3])
def test_large_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: int) -> None:
    monkeypatch.setattr(source_pieces, "PIECE_BYTES", 100)
    lines = [f"line {number} {'x' * (number % 40)}" for number in range(200)]
    put(tmp_path / "in/a.txt", "\n".join(lines))
    reading = Reading(tmp_path, Lane.BATCHES, tasks)
    found = reading.until_idle()
    assert sorted(found) == sorted(lines)
    if tasks == 1:
        assert found == lines


def test_row_groups_are_read_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_pieces, "PIECE_BYTES", 2000)
    (tmp_path / "in").mkdir()
    pa.parquet.write_table(pa.table({"id": range(5000)}), tmp_path / "in/a.parquet", row_group_size=100)
    reading = Reading(tmp_path, Lane.BATCHES, 3, format="parquet")
    assert sorted(value.get("id") for value in reading.until_idle()) == list(range(5000))
    assert {record.source_partition["slot"] for record in reading.records} == {0, 1, 2}


def test_blocks_of_avro_are_read_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_pieces, "PIECE_BYTES", 2000)
    (tmp_path / "in").mkdir()
    number = {"type": "record", "name": "number", "fields": [{"name": "id", "type": "long"}]}
    with (tmp_path / "in/a.avro").open("wb") as file:
        fastavro.writer(file, number, ({"id": one} for one in range(5000)), "deflate", sync_interval=300)
    reading = Reading(tmp_path, Lane.BATCHES, 3, format="avro")
    assert sorted(value.get("id") for value in reading.until_idle()) == list(range(5000))
    assert {record.source_partition["slot"] for record in reading.records} == {0, 1, 2}


def test_compressed_files_are_known_by_their_names(tmp_path: Path) -> None:
    put(tmp_path / "in/a.txt.gz", gzip.compress(b"1\n") + gzip.compress(b"2\n"), 100)
    put(tmp_path / "in/b.txt.zst", pa.compress(b"3\n4\n", "zstd", asbytes=True), 200)
    assert Reading(tmp_path).values() == ["1", "2", "3", "4"]


def test_names_order_files_within_a_folder(tmp_path: Path) -> None:
    reading = Reading(tmp_path, Lane.BATCHES, 2, **{"file.order": "name"})
    for number in range(10):
        for folder in "ab":
            put(tmp_path / f"in/{folder}/{number}.txt", f"{folder}{number}\n", 1000 - number)
    records = reading.interval()
    for folder in "ab":
        values = [record.value for record in records if record.value[0] == folder]
        assert values == [f"{folder}{number}" for number in range(10)]
    put(tmp_path / "in/a/91.txt", "new\n", 1)
    assert reading.until_idle() == ["new"]
