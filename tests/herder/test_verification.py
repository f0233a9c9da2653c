"""A sink's target is recounted: what was damaged is named, and nothing else is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import Difference, IntervalKey, PartitionRange, RecountedInterval, TopicPartition
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.errors import BadRequestError, NotFoundError
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.herder.topic_ends import TopicEnds
from connect_core.herder.verification import Verification, VerificationRequest, verify
from connect_core.interval.values import PartitionEnds
from connect_core.store.offsets import forget_history
from tests.herder.exports import EXPORT, Export, world_of
from tests.herder.harness import SINK, SOURCE, Harness

pytestmark = pytest.mark.slow


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> Export:
    """Three intervals of a FileSystemSink: offsets [0, 3), [3, 7) and [7, 9)."""
    made = Export(world_of(harness, tmp_path), tmp_path).create()
    for first, count in ((0, 3), (3, 4), (7, 2)):
        made.run([{"n": number} for number in range(first, first + count)])
    return made


def recount(export: Export, first: int = 1, last: int | None = None) -> Verification:
    return verify(export.harness.herder, export.name, VerificationRequest(first, last))


def kinds(found: Verification) -> list[tuple[str, int | None]]:
    return [(one.kind, one.interval) for one in found.differences]


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    places = [place for place in folder.rglob("*") if not place.name.startswith("connect.db")]
    return {str(place): (place.stat().st_mtime_ns, place.stat().st_size) for place in places}


def test_intervals_that_do_not_exist_are_not_found_to_be_without_differences(export: Export) -> None:
    assert recount(export, 3).intervals == 1
    with pytest.raises(BadRequestError, match=r"Interval 4 of .* does not exist yet, the newest is 3"):
        recount(export, 4)


def test_all_is_as_it_was_written(export: Export, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    found = recount(export)
    assert (found.differences, found.is_complete, found.is_recountable) == ([], True, True)
    assert (found.intervals, found.parts, found.rows, found.found, found.uncounted) == (3, 3, 9, 9, 0)
    assert (found.first, found.last, found.records) == (1, 3, 9)
    (part,) = found.partitions
    assert (part.topic, part.partition, part.start, part.end, part.offsets) == ("t", 0, 0, 9, 9)
    assert snapshot(tmp_path) == before


def remove(place: Path) -> None:
    place.unlink()


def cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-5])


def add_row(place: Path) -> None:
    table = pq.read_table(place)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), place)


def same_size_other_bytes(place: Path) -> None:
    content = bytearray(place.read_bytes())
    content[-12:] = b"\0" * 12
    place.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (remove, ["missing"]),
        (cut, ["size", "unreadable"]),
        (add_row, ["size", "rows"]),
        (same_size_other_bytes, ["unreadable"]),
    ],
)
def test_damage_is_named_with_its_interval(export: Export, damage: Callable[[Path], None], expected: list[str]) -> None:
    place = export.files()[1]
    damage(place)
    found = recount(export)
    assert kinds(found) == [(kind, 2) for kind in expected]
    assert {one.place for one in found.differences} == {str(place)}


def test_foreign_file_is_named(export: Export) -> None:
    place = export.files()[0]
    shutil.copy(place, place.with_name("copy.parquet"))
    (place.parent / "_hidden.parquet").write_bytes(b"")
    found = recount(export)
    assert [(one.kind, one.place) for one in found.differences] == [("foreign", str(place.with_name("copy.parquet")))]


def test_lost_manifest_is_named(export: Export, tmp_path: Path) -> None:
    """Its file is one that nobody has written then, and its range a hole between its neighbours."""
    (tmp_path / "out" / "_connect" / "a" / "1" / "0000000002.json").unlink()
    assert sorted(kinds(recount(export))) == [("foreign", None), ("gap", 3), ("marker", 2)]


def test_newest_manifest_lost(export: Export, tmp_path: Path) -> None:
    (tmp_path / "out" / "_connect" / "a" / "1" / "0000000003.json").unlink()
    found = recount(export)
    assert sorted(kinds(found)) == [("foreign", None), ("marker", 3), ("position", None)]
    position = next(one for one in found.differences if one.kind == "position")
    assert (position.place, position.said, position.found) == (
        "t-0",
        "the database is at 9",
        "the newest marker ends at 7",
    )


def test_changed_manifest_is_named(export: Export, tmp_path: Path) -> None:
    place = tmp_path / "out" / "_connect" / "a" / "1" / "0000000002.json"
    manifest = json.loads(place.read_text())
    manifest["ranges"][0]["start"] = 2
    place.write_text(json.dumps(manifest))
    assert sorted(kinds(recount(export))) == [("overlap", 2), ("range", 2), ("range", 2)]


def test_marker_without_a_row_is_named(export: Export) -> None:
    export.run([{"n": 1}], is_recorded=False)
    found = recount(export)
    # It lies behind all that is over: a run that has just committed it is about to say so.
    assert kinds(found) == []
    export.position = 9
    export.run([{"n": 1}])
    assert kinds(recount(export)) == []


def test_fewer_rows_than_records_were_read(export: Export, tmp_path: Path) -> None:
    place = tmp_path / "out" / "_connect" / "a" / "1" / "0000000001.json"
    manifest = json.loads(place.read_text())
    manifest["files"][0]["rows"] = 2
    place.write_text(json.dumps(manifest))
    found = recount(export)
    assert kinds(found) == [("rows", 1), ("records", 1)]
    assert [(one.said, one.found) for one in found.differences] == [
        ("2 rows", "3 rows"),
        ("3 records read and not skipped", "2 rows"),
    ]


def test_some_intervals_only(export: Export) -> None:
    for place in export.files():
        place.unlink()
    assert kinds(recount(export, 2, 2)) == [("missing", 2)]
    assert kinds(recount(export, 2)) == [("missing", 3), ("missing", 2)]
    assert kinds(recount(export, 1, 1)) == [("missing", 1)]
    with pytest.raises(BadRequestError):
        recount(export, 3, 2)


def test_offsets_without_records_are_no_difference(export: Export) -> None:
    export.run([{"n": 9}], gap=5)
    found = recount(export)
    assert (found.differences, found.rows, found.partitions[0].offsets) == ([], 10, 15)
    assert any("leave offsets without one" in note for note in found.notes)


def test_moved_offsets_are_no_gap(export: Export) -> None:
    """An operator went back to 3 and on: equal ranges have equal files, others lie beside them."""
    lifecycle.stop(export.harness.herder, "a")
    entry = {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 3}}
    offsets.alter(export.harness.herder, "a", [entry])
    lifecycle.resume(export.harness.herder, "a")
    export.position = 3
    export.run([{"n": number} for number in (3, 4, 5, 6)])
    found = recount(export)
    assert found.differences == []
    assert "offsets of t-0 were moved to 3, so this is not reported as a difference" in found.notes
    assert found.uncounted == 4


@pytest.mark.parametrize("is_reset", [False, True])
def test_moved_offsets_are_no_gap_however_long_ago(export: Export, is_reset: bool) -> None:
    """The last 100 intervals stay in the history longer than the moves of offsets."""
    herder = export.harness.herder
    lifecycle.stop(herder, "a")
    partition = {"kafka_topic": "t", "kafka_partition": 0}
    if is_reset:
        offsets.reset(herder, "a")
    else:
        offsets.alter(herder, "a", [{"partition": partition, "offset": {"kafka_offset": 3}}])
    lifecycle.resume(herder, "a")
    export.position = 0 if is_reset else 3
    export.run([{"n": number} for number in range(export.position, 7)])
    with export.harness.database.write() as connection:
        assert forget_history(connection, datetime.now(UTC) + timedelta(days=1)) > 0
    assert verify(herder, "a").differences == []


def test_moves_of_a_source_that_had_the_name_are_passed_over(harness: Harness, tmp_path: Path) -> None:
    herder = world_of(harness, tmp_path).herder
    harness.create("a", SOURCE, "STOPPED")
    offsets.alter(herder, "a", [{"partition": {"filename": SOURCE["file"]}, "offset": {"position": 3}}])
    connectors.delete(herder, "a")
    export = Export(world_of(harness, tmp_path), tmp_path).create()
    export.run([{"n": 1}])
    assert recount(export).differences == []


def test_interval_that_is_not_over_is_left_alone(export: Export) -> None:
    export.harness.driver("a").begin()
    assert (recount(export).differences, recount(export).last) == ([], 3)


def test_connector_that_moved_elsewhere(export: Export) -> None:
    """What it wrote before is not looked for at the new place."""
    connectors.put_config(export.harness.herder, "a", {**EXPORT, "path": "elsewhere"})
    export.config = {**EXPORT, "path": "elsewhere"}
    export.run([{"n": 9}])
    found = recount(export)
    assert (found.differences, found.intervals) == ([], 1)
    assert any("written elsewhere" in note for note in found.notes)


def test_time_is_limited(export: Export) -> None:
    found = verify(export.harness.herder, "a", VerificationRequest(seconds=0))
    assert (found.is_complete, found.intervals) == (False, 1)


@pytest.mark.parametrize("form", ["avro", "orc", "json", "csv"])
@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_rows_of_other_formats_are_counted(harness: Harness, tmp_path: Path, form: str, codec: str) -> None:
    config = {**EXPORT, "format": form, "compression.type": codec}
    export = Export(world_of(harness, tmp_path), tmp_path, config).create()
    export.run([{"text": 'a "quoted"\nline'}, {"text": "b"}, {"text": None}])
    found = recount(export)
    assert (found.differences, found.rows, found.found) == ([], 3, 3)


def test_rows_that_a_format_does_not_tell(harness: Harness, tmp_path: Path) -> None:
    export = Export(world_of(harness, tmp_path), tmp_path, {**EXPORT, "format": "raw"}).create()
    export.run(["a\nb", "c"])
    found = recount(export)
    assert (found.differences, found.rows, found.found, found.uncounted) == ([], 2, 0, 2)
    assert "rows of .bin files cannot be counted" in found.notes
    (place,) = export.files()
    place.write_bytes(b"")
    assert kinds(recount(export)) == [("size", 1)]


Found = Mapping[TopicPartition, PartitionEnds]


@dataclass(frozen=True)
class Ends:
    """Kafka, as far as it is asked."""

    end: PartitionEnds

    def partition_ends(
        self, topics: Collection[str], regex: str | None = None
    ) -> Mapping[TopicPartition, PartitionEnds]:
        return {TopicPartition("t", 0): self.end}

    def first_offsets(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("end", "retained", "expected"),
    [
        (PartitionEnds("id-t", 4, 12, 12), 5, []),
        (PartitionEnds("id-t", 9, 9, 9), 0, []),
        (PartitionEnds("id-t", 0, 7, 8), 7, ["kafka"]),
        (PartitionEnds("id-of-another", 0, 3, 3), None, []),
    ],
)
def test_what_kafka_still_has(export: Export, end: PartitionEnds, retained: int | None, expected: list[str]) -> None:
    found = verify(replace(export.harness.herder, ends=TopicEnds(Ends(end))), "a")
    assert [one.retained for one in found.partitions] == [retained]
    assert [one.kind for one in found.differences] == expected


def test_target_that_cannot_be_recounted(harness: Harness, tmp_path: Path) -> None:
    harness = world_of(harness, tmp_path)
    harness.create("a", {**SINK, "file": str(tmp_path / "b.txt")})
    harness.create("b", SOURCE)
    for name in ("a", "b"):
        found = verify(harness.herder, name)
        assert not found.is_recountable
        assert (found.reason or "").startswith("This connector's target cannot be recounted: ")
    with pytest.raises(NotFoundError):
        verify(harness.herder, "c")


class OwnCommitter:
    """What a committer of somebody else adds to be recounted."""

    def recount(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        assert (first, last.sequence) == (1, 1)
        lost = Difference("rows", "table x", "3 rows", "2 rows", 1)
        ranges = (PartitionRange("t", 0, 0, 3),)
        yield RecountedInterval(key=last, ranges=ranges, rows=3, found=2, parts=1, differences=(lost,), notes=("n",))

    def foreign_objects(self) -> Iterator[Difference]:
        yield Difference("foreign", "table y")

    def close(self) -> None:
        """Nothing is held."""


def test_committer_of_somebody_else_may_recount(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileStreamSinkConnector, "committer", lambda connector, config: OwnCommitter())
    export = Export(
        world_of(harness, tmp_path), tmp_path, {**SINK, "topics": "t", "file": str(tmp_path / "b")}
    ).create()
    export.run([1, 2, 3], is_marked=False)
    found = recount(export)
    assert (kinds(found), found.rows, found.found, "n" in found.notes) == ([("rows", 1), ("foreign", None)], 3, 2, True)


LAKES = {
    "IcebergSink": {
        "iceberg.tables": "db.orders",
        "iceberg.catalog.uri": "sqlite:///catalog.db",
        "iceberg.catalog.warehouse": "warehouse",
        "iceberg.tables.auto-create-enabled": "true",
    },
    "DeltaSink": {"path": "lake"},
}


@pytest.mark.parametrize("kind", LAKES)
def test_tables_are_recounted(harness: Harness, tmp_path: Path, kind: str) -> None:
    pytest.importorskip({"IcebergSink": "pyiceberg", "DeltaSink": "deltalake"}[kind])
    config = {"connector.class": kind, "tasks.max": "1", "topics": "t", **LAKES[kind]}
    export = Export(world_of(harness, tmp_path), tmp_path, config).create()
    for first in (0, 2):
        export.run([{"n": first}, {"n": first + 1}])
    found = recount(export)
    assert (found.differences, found.intervals, found.rows, found.found) == ([], 2, 4, 4)
    assert [(one.start, one.end) for one in found.partitions] == [(0, 4)]
    newest = max((place for place in tmp_path.rglob("*.parquet") if "_delta_log" not in place.parts), key=written_at)
    newest.unlink()
    assert kinds(recount(export)) == [("missing", 2)]


def written_at(place: Path) -> int:
    return place.stat().st_mtime_ns
