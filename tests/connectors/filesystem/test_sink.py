from __future__ import annotations

import decimal
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api import (
    Batch,
    CommitMarker,
    IntervalContext,
    PartitionRange,
    SchemaBuilder,
    SinkRecord,
    Staged,
    Struct,
    TopicPartition,
)
from connect_core.api.data import (
    INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    Int32,
    Time,
    Timestamp,
)
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector, FileSystemSinkTask
from connect_core.connectors.filesystem.storages import Staging
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError, StaleEpochError
from tests.connectors.contexts import DriverSide, Reporter, SinkSide, interval_of, limits_of
from tests.connectors.examples import FEW

pytestmark = pytest.mark.slow

CONFIG = {"path": "out"}


def ranges_of(records: Sequence[SinkRecord]) -> list[PartitionRange]:
    ends: dict[tuple[str, int], int] = {}
    for record in records:
        place = record.original_topic or "", record.original_kafka_partition or 0
        ends[place] = max(ends.get(place, 0), record.kafka_offset + 1)
    return [PartitionRange(topic, partition, 0, end, f"id-{topic}") for (topic, partition), end in ends.items()]


def numbered(values: Sequence[Any], topic: str = "t", partition: int = 0, **more: Any) -> list[SinkRecord]:
    return [
        SinkRecord(topic, partition, value=value, kafka_offset=offset, timestamp=1000 + offset, **more)
        for offset, value in enumerate(values)
    ]


class Export:
    """A connector on a folder: tasks stage, the committer commits."""

    def __init__(self, folder: Path, name: str = "copy", **config: str) -> None:
        self.folder, self.name, self.config = folder, name, {**CONFIG, **config}
        self.out = folder / "out"
        self.reporter: Reporter | None = None
        self.columns: Mapping[str, Mapping[str, str]] = {}

    def task(self, interval: IntervalContext) -> FileSystemSinkTask:
        task = FileSystemSinkTask()
        task.initialize(SinkSide(limits_of(self.folder), self.config, interval, self.reporter))
        task.start(self.config)
        return task

    def stage(self, interval: IntervalContext, *puts: Sequence[SinkRecord], batches: bool = False) -> Sequence[Staged]:
        task = self.task(interval)
        try:
            for records in puts:
                if not (batches and task.put_batch(Batch.from_records(records))):
                    task.put(records)
            return task.stage({part.topic_partition: part.end for part in interval.ranges})
        finally:
            task.stop()

    def committer(self, epoch: int = 1) -> FileSystemCommitter:
        connector = FileSystemSinkConnector()
        connector.initialize(DriverSide(limits_of(self.folder), self.name))
        connector.start(self.config)
        committer = connector.committer(self.config)
        assert isinstance(committer, FileSystemCommitter)
        committer.fence(epoch)
        return committer

    def interval(self, records: Sequence[SinkRecord], sequence: int = 1, attempt: str = "1-a") -> IntervalContext:
        ranges = ranges_of(records)
        return interval_of(*ranges, sequence=sequence, attempt=attempt, columns=self.columns, connector=self.name)

    def run(self, *tasks: Sequence[SinkRecord], sequence: int = 1, batches: bool = False) -> CommitMarker:
        """Run one interval, a task for each argument."""
        staged: list[Staged] = []
        for number, records in enumerate(tasks):
            interval = self.interval(records, sequence, f"1-{number}")
            staged += self.stage(interval, records, batches=batches)
        committer = self.committer()
        key = interval_of(sequence=sequence, connector=self.name).key
        marker = committer.commit(key, staged)
        committer.publish(key, marker)
        self.columns = {**self.columns, **(marker.columns or {})}
        return marker

    def files(self) -> list[str]:
        return sorted(str(place.relative_to(self.out)) for place in self.out.glob("[!_]*/*/*"))

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        places = sorted((self.out / topic).glob("*/*.parquet"))
        return [row for place in places for row in pq.ParquetFile(place).read().to_pylist()]


@pytest.fixture(params=[False, True], ids=["records", "batches"])
def batches(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return Export(tmp_path)


def test_files_have_names_for_ever(export: Export, batches: bool) -> None:
    marker = export.run([*numbered([{"a": 1}, {"a": 2}]), *numbered([{"a": 3}], partition=2)], batches=batches)
    assert export.files() == [
        "t/partition=0/t+0+00000000000000000000+00000000000000000002.parquet",
        "t/partition=2/t+2+00000000000000000000+00000000000000000001.parquet",
    ]
    assert (export.out / "t" / "_SUCCESS").exists()
    assert export.rows() == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert marker.positions == {("t", 0): 2, ("t", 2): 1}
    assert marker.columns == {"t": {"a": "int64"}}
    assert (marker.detail or {})["topic_ids"] == {"t": "id-t"}


def test_files_of_a_recreated_topic_replace_nothing(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    records = numbered([{"a": 2}])
    for sequence, topic_id in enumerate(["id-new", "id-new", "id-t"], 2):
        part = PartitionRange("t", 0, 0, 1, topic_id)
        staged = export.stage(interval_of(part, sequence=sequence, columns=export.columns), records)
        committer, key = export.committer(), interval_of(sequence=sequence).key
        committer.publish(key, committer.commit(key, staged))
        assert export.rows() == [{"a": 2}, {"a": 1 if topic_id == "id-new" else 2}]
    recreated, first = export.files()
    assert recreated == "t/partition=0/t+0+00000000000000000000+00000000000000000001+901769ed.parquet"
    assert first == "t/partition=0/t+0+00000000000000000000+00000000000000000001.parquet"


def test_a_listing_reader_sees_data_only(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    unfinished = numbered([{"a": 2}])
    export.stage(export.interval(unfinished, 2, "2-a"), unfinished)
    assert ds.dataset(export.out / "t", format="parquet").count_rows() == 1
    assert ds.dataset(export.out, format="parquet").count_rows() == 1


def test_missing_fields_are_null(export: Export, batches: bool) -> None:
    export.run(numbered([{"a": 1}, {"b": "x"}, {}, None, {"a": None}]), batches=batches)
    rows = [{"a": 1, "b": None}, {"a": None, "b": "x"}]
    assert export.rows() == rows + [{"a": None, "b": None}] * 3


def test_integers_with_floats_are_floats(export: Export, batches: bool) -> None:
    marker = export.run(numbered([{"a": 1}, {"a": 2.5}, {"a": Int32(7)}]), batches=batches)
    assert export.rows() == [{"a": 1.0}, {"a": 2.5}, {"a": 7.0}]
    assert marker.columns == {"t": {"a": "double"}}


def test_maps_and_lists_nest(export: Export, batches: bool) -> None:
    values = [{"m": {"x": 1}, "l": [1]}, {"m": {"y": "z"}, "l": [2.5]}]
    marker = export.run(numbered(values), batches=batches)
    assert export.rows() == [{"m": {"x": 1, "y": None}, "l": [1.0]}, {"m": {"x": None, "y": "z"}, "l": [2.5]}]
    assert marker.columns == {"t": {"m": '["struct",[["x","int64"],["y","string"]]]', "l": '["list","double"]'}}


def test_values_that_are_no_maps_are_one_column(export: Export, batches: bool) -> None:
    export.run(numbered(["foo", None, "bar"], value_schema=OPTIONAL_STRING_SCHEMA), batches=batches)
    assert export.rows() == [{"value": "foo"}, {"value": None}, {"value": "bar"}]


def test_only_nulls_keep_their_number(export: Export, batches: bool) -> None:
    export.run(numbered([None, {}, {"a": None}]), batches=batches)
    assert len(export.rows()) == 3


SCHEMA = (
    SchemaBuilder.struct()
    .field("id", INT32_SCHEMA)
    .field("when", Timestamp.SCHEMA)
    .field("day", Date.SCHEMA)
    .field("clock", Time.SCHEMA)
    .field("price", Decimal.schema(2))
    .field("tags", SchemaBuilder.array(STRING_SCHEMA).build())
    .field("more", SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build())
    .build()
)


def test_logical_types_are_parquets_own(export: Export, batches: bool) -> None:
    struct = (
        Struct(SCHEMA)
        .put("id", Int32(1))
        .put("when", Instant(1_700_000_000_123))
        .put("day", Instant(86_400_000))
        .put("clock", Instant(1_500))
        .put("price", decimal.Decimal("1.50"))
        .put("tags", ["a"])
        .put("more", {"k": Int32(2)})
    )
    marker = export.run(numbered([struct], value_schema=SCHEMA), batches=batches)
    (place,) = export.out.glob("t/*/*.parquet")
    kinds = {field.name: str(field.type) for field in pq.read_schema(place)}
    assert kinds == {
        "id": "int32",
        "when": "timestamp[ms, tz=UTC]",
        "day": "date32[day]",
        "clock": "time32[ms]",
        "price": "decimal128(38, 2)",
        "tags": "list<element: string>",
        "more": "map<string, int32 ('more')>",
    }
    (row,) = export.rows()
    assert (row["id"], row["price"], row["tags"], row["more"]) == (1, decimal.Decimal("1.50"), ["a"], [("k", 2)])
    assert marker.columns == {}


def test_a_schema_may_change_within_an_interval(export: Export, batches: bool) -> None:
    later = SchemaBuilder.struct().field("a", OPTIONAL_INT64_SCHEMA).field("b", OPTIONAL_STRING_SCHEMA).build()
    first = SchemaBuilder.struct().field("a", INT32_SCHEMA).build()
    records = [
        *numbered([Struct(first).put("a", Int32(1))], value_schema=first),
        replace(numbered([Struct(later).put("b", "x")], value_schema=later)[0], kafka_offset=1),
    ]
    export.run(records, batches=batches)
    assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


def test_routed_topics_have_folders_of_their_own(export: Export, batches: bool) -> None:
    one = [replace(record, topic="all") for record in numbered([{"a": 1}], "a-1")]
    two = [replace(record, topic="all") for record in numbered([{"a": 2}], "a-2")]
    export.run([*one, *two, *numbered([{"b": 1}])], batches=batches)
    assert [name.split("+")[0] for name in export.files()] == [
        "all/partition=0/a-1",
        "all/partition=0/a-2",
        "t/partition=0/t",
    ]


def test_key_and_place_are_stored_if_wanted(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, **{"include.key": "true", "include.metadata": "true"})
    export.run(numbered([{"a": 1}], partition=3, key={"id": 7}), batches=batches)
    (row,) = export.rows()
    assert row.pop("_timestamp").timestamp() == 1
    assert row == {"a": 1, "_key": {"id": 7}, "_topic": "t", "_partition": 3, "_offset": 0}
    with pytest.raises(DataError, match="_key"):
        export.run(numbered([{"_key": 1}], key="k", key_schema=STRING_SCHEMA), sequence=2, batches=batches)


# -- columns over tasks and intervals ---------------------------------------------------------------------------------


def test_all_files_of_an_interval_have_the_same_columns(export: Export, batches: bool) -> None:
    marker = export.run(
        numbered([{"a": 1}]), numbered([{"b": "x"}], partition=1), numbered([{"a": 0.5}], partition=2), batches=batches
    )
    assert export.rows() == [{"a": 1.0, "b": None}, {"a": None, "b": "x"}, {"a": 0.5, "b": None}]
    assert marker.columns == {"t": {"a": "double", "b": "string"}}


def test_stored_columns_are_kept(export: Export, batches: bool) -> None:
    export.run(numbered([{"a": 1, "b": "x"}]), batches=batches)
    export.run(numbered([{"b": "y", "c": True}], partition=1), sequence=2, batches=batches)
    assert export.rows()[-1] == {"a": None, "b": "y", "c": True}
    assert export.columns == {"t": {"a": "int64", "b": "string", "c": "bool"}}


def test_partitions_of_a_task_share_columns(export: Export, batches: bool) -> None:
    export.run([*numbered([{"a": 1}]), *numbered([{"b": 2}], partition=1)], batches=batches)
    assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_a_column_found_late_begins_another_part(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, **{"parquet.row.group.rows": "2"})
    records = numbered([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, {"a": 5, "b": "x"}])
    interval = export.interval(records)
    staged = export.stage(interval, records[:2], records[2:4], records[4:], batches=batches)
    assert len(staged[0].detail["files"][0]["parts"]) == 2
    committer = export.committer()
    committer.publish(interval.key, committer.commit(interval.key, json_of(staged)))
    assert export.rows() == [{"a": number, "b": None} for number in range(1, 5)] + [{"a": 5, "b": "x"}]


def json_of(staged: Sequence[Staged]) -> list[Staged]:
    """What a driver gets of a worker: details have been text in between."""
    return [replace(part, detail=json.loads(json.dumps(part.detail))) for part in staged]


def test_a_conflict_names_its_place(export: Export, batches: bool) -> None:
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 2: field a holds string where int64 is stored"):
        export.run(numbered([{"a": 1}, {"a": None}, {"a": "x"}]), batches=batches)
    with pytest.raises(DataError, match=r"topic t, partition 1, offset 0: field a"):
        export.run([*numbered([{"a": 1}]), *numbered([{"a": "x"}], partition=1)], batches=batches)


def test_a_conflict_goes_the_way_of_tolerance(export: Export, batches: bool) -> None:
    export.reporter = Reporter()
    export.run(numbered([{"a": 1}, {"a": "x"}, {"a": 3}, {1: 2}]), batches=batches)
    assert export.rows() == [{"a": 1}, {"a": 3}]
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1, 3]


def test_a_conflict_between_tasks_names_its_place(export: Export, batches: bool) -> None:
    with pytest.raises(DataError, match=r"topic t, partition 1, offset 1: field a\.b holds string where int64"):
        export.run(
            numbered([{"a": {"b": 1}}]), numbered([{"a": None}, {"a": {"b": "x"}}], partition=1), batches=batches
        )
    assert export.files() == []
    assert export.committer().read_marker(interval_of().key) is None


def test_integers_a_float_cannot_hold_are_refused(export: Export, batches: bool) -> None:
    with pytest.raises(DataError, match=r"offset 1: field a"):
        export.run(numbered([{"a": 0.5}, {"a": 2**53 + 1}]), batches=batches)
    with pytest.raises(DataError, match="field a"):
        export.run(numbered([{"a": 2**53 + 1}]), numbered([{"a": 0.5}], partition=1), batches=batches)


@pytest.mark.parametrize("value", [{"a": 2**70}, {"a": "\ud800"}, {"a": object()}, {"a": decimal.Decimal("NaN")}])
def test_values_without_a_column_are_refused(export: Export, batches: bool, value: Any) -> None:
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 1: field a"):
        export.run(numbered([{"b": 1}, value]), batches=batches)


SCALARS = st.none() | st.integers(-100, 100) | st.sampled_from([0.5, -1.0]) | st.sampled_from("xy")
VALUES = st.none() | st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner)),
    max_size=3,
)


@FEW
@given(st.lists(st.tuples(VALUES, st.integers(0, 1)), min_size=1, max_size=8), st.integers(1, 4))
def test_lanes_are_equal(tmp_path_factory: pytest.TempPathFactory, values: Any, size: Any) -> None:
    counts = [0, 0]
    records = []
    for value, partition in values:
        records.append(SinkRecord("t", partition, value=value, kafka_offset=counts[partition]))
        counts[partition] += 1
    seen = []
    for batches in (False, True):
        export = Export(tmp_path_factory.mktemp("lane"))
        export.reporter = Reporter()
        puts = [records[begin : begin + size] for begin in range(0, len(records), size)]
        interval = export.interval(records)
        staged = export.stage(interval, *puts, batches=batches)
        committer = export.committer()
        marker = committer.commit(interval.key, staged)
        committer.publish(interval.key, marker)
        refused = [(one.kafka_partition, one.kafka_offset) for one, _ in export.reporter.reported]
        seen.append((export.rows(), marker.columns, refused, export.files()))
    assert seen[0] == seen[1]


@FEW
@given(st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | st.text("xy", max_size=2)), min_size=1))
def test_columns_are_equal_to_records(tmp_path_factory: pytest.TempPathFactory, pairs: Any) -> None:
    records = numbered([{"a": one, "b": {"c": [two]}} for one, two in pairs])
    seen = []
    for wanted in (False, True):
        export = Export(tmp_path_factory.mktemp("columns"))
        task = export.task(export.interval(records))
        batch = Batch.from_records(records)
        columns = batch.value.to_columns()
        assert columns is not None
        if wanted:
            assert task.put_batch(replace(batch, value=columns))
        else:
            task.put(records)
        staged = task.stage({TopicPartition("t", 0): len(records)})
        committer = export.committer()
        marker = committer.commit(interval_of().key, staged)
        committer.publish(interval_of().key, marker)
        seen.append((export.rows(), marker.columns))
    assert seen[0] == seen[1]


# -- the protocol -----------------------------------------------------------------------------------------------------


def test_partitions_without_records_move_on(export: Export) -> None:
    interval = interval_of(PartitionRange("t", 0, 3, 9))
    staged = export.stage(interval)
    committer = export.committer()
    marker = committer.commit(interval.key, staged)
    committer.publish(interval.key, marker)
    assert marker.positions == {("t", 0): 9}
    assert export.files() == []


def test_commit_and_publish_twice_change_nothing(export: Export) -> None:
    marker = export.run(numbered([{"a": 1}]))
    late = export.interval(numbered([{"a": 1}]), attempt="1-late")
    staged = export.stage(late, numbered([{"a": 2}]))
    committer = export.committer()
    assert committer.commit(late.key, staged) == marker
    committer.publish(late.key, marker)
    committer.publish(late.key, marker)
    assert export.rows() == [{"a": 1}]


class Crash(Exception):
    pass


class CrashingCommitter(FileSystemCommitter):
    """Dies before the n-th of the steps it takes to publish."""

    left = 0

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Crash

    def _move(self, staging: Staging, file: Mapping[str, Any]) -> None:
        self._step()
        super()._move(staging, file)

    def _close(self, folder: str) -> None:
        self._step()
        super()._close(folder)
        self._step()


@pytest.mark.parametrize("steps", range(5))
def test_recovery_after_a_crash_while_publishing(export: Export, steps: Any) -> None:
    records = [*numbered([{"a": 1}]), *numbered([{"b": 2}], partition=1), *numbered([{"c": 3}], "u")]
    interval = export.interval(records)
    healthy = export.committer()
    dying = CrashingCommitter("copy", healthy.layout, healthy.format)
    dying.left = steps
    marker = dying.commit(interval.key, export.stage(interval, records))
    with pytest.raises(Crash):
        dying.publish(interval.key, marker)
    assert not (steps < 4 and (export.out / "u" / "_SUCCESS").exists())
    committer = export.committer(2)
    found = committer.read_marker(interval.key)
    assert found == marker
    committer.publish(interval.key, found)
    assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": 2}]
    assert export.rows("u") == [{"c": 3}]
    assert (export.out / "t" / "_SUCCESS").exists()
    assert (export.out / "u" / "_SUCCESS").exists()


def test_a_crash_before_the_manifest_leaves_no_data(export: Export) -> None:
    records = numbered([{"a": 1}])
    export.stage(export.interval(records), records)
    assert export.committer(2).read_marker(interval_of().key) is None
    assert export.files() == []
    again = export.interval(records, attempt="2-b")
    committer = export.committer(2)
    key = replace(again.key, epoch=2)
    committer.publish(key, committer.commit(key, export.stage(again, records)))
    assert export.rows() == [{"a": 1}]


def test_files_that_are_on_another_machine_are_not_committed(export: Export, tmp_path: Path) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    parts = export.stage(interval, records)
    (file,) = export.out.rglob("*.parquet")
    file.rename(tmp_path / "elsewhere")
    committer = export.committer()
    with pytest.raises(RetriableError, match=r"for configuration path: .*must have the same folder"):
        committer.commit(interval.key, parts)
    assert committer.read_marker(interval.key) is None


def test_an_older_driver_cannot_commit(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    old = export.committer(1)
    staged = export.stage(interval, records)
    export.committer(2)
    with pytest.raises(StaleEpochError) as raised:
        old.commit(interval.key, staged)
    assert raised.value.epoch == 2
    with pytest.raises(StaleEpochError):
        old.fence(1)
    assert old.read_marker(interval.key) is None


def test_an_older_driver_cannot_publish_over_a_newer_one(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    old = export.committer(1)
    marker = old.commit(interval.key, export.stage(interval, records))
    export.committer(2)
    with pytest.raises(StaleEpochError):
        old.publish(interval.key, marker)
    assert export.files() == []


class SleepingCommitter(FileSystemCommitter):
    """Sleeps before it marks, or takes the mark away, while ``meanwhile`` happens."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)
    asleep = ""

    def _open(self, folder: str) -> None:
        self._sleep("open")
        super()._open(folder)

    def _close(self, folder: str) -> None:
        self._sleep("close")
        super()._close(folder)

    def _sleep(self, where: str) -> None:
        if where == self.asleep:
            self.meanwhile()


def sleeper(export: Export, where: str, meanwhile: Callable[[], object]) -> SleepingCommitter:
    healthy = export.committer()
    found = SleepingCommitter("copy", healthy.layout, healthy.format)
    found.meanwhile, found.asleep = meanwhile, where
    found.fence(1)
    return found


def test_a_driver_that_slept_marks_no_part_of_a_later_interval(export: Export) -> None:
    records, later = numbered([{"a": 1}]), [*numbered([{"a": 2}], "t", 1), *numbered([{"a": 3}], "t", 2)]

    def meanwhile() -> None:
        newer = export.committer(2)
        newer.publish(key, marker)
        interval = export.interval(later, sequence=2)
        dying = CrashingCommitter("copy", newer.layout, newer.format)
        dying.left = 1
        with pytest.raises(Crash):
            dying.publish(interval.key, newer.commit(replace(interval.key, epoch=2), export.stage(interval, later)))

    key = export.interval(records).key
    old = sleeper(export, "close", meanwhile)
    marker = old.commit(key, export.stage(export.interval(records), records))
    with pytest.raises(StaleEpochError):
        old.publish(key, marker)
    assert export.rows() == [{"a": 1}, {"a": 2}]
    assert not (export.out / "t" / "_SUCCESS").exists()


def test_a_driver_that_slept_takes_no_mark_away(export: Export) -> None:
    records = numbered([{"a": 1}])
    key = export.interval(records).key
    old = sleeper(export, "open", lambda: export.committer(2).publish(key, marker))
    marker = old.commit(key, export.stage(export.interval(records), records))
    with pytest.raises(StaleEpochError):
        old.publish(key, marker)
    assert (export.out / "t" / "_SUCCESS").exists()


def test_an_abandoned_interval_never_commits(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    aborted = committer.abandon(interval.key, {TopicPartition("t", 0): 0})
    marker = committer.commit(interval.key, export.stage(interval, records))
    assert marker == aborted
    assert marker.aborted
    committer.publish(interval.key, marker)
    assert export.files() == []


def test_abandoning_comes_too_late_after_the_manifest(export: Export) -> None:
    marker = export.run(numbered([{"a": 1}]))
    assert export.committer().abandon(interval_of().key, None) == marker


def test_a_range_exported_again_replaces_its_file(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    export.run(numbered([{"a": 2}]), sequence=2)
    assert export.rows() == [{"a": 2}]


def test_released_topics_are_free(tmp_path: Path) -> None:
    copy, other = Export(tmp_path), Export(tmp_path, "other")
    copy.run(numbered([{"a": 1}]))
    other.run(numbered([{"a": 1}], "u"))
    copy.committer().release()
    other.run(numbered([{"a": 1}]), sequence=2)
    with pytest.raises(ConfigError, match="connector other writes there"):
        copy.run(numbered([{"a": 1}], "u"), sequence=2)


def test_another_connector_may_not_write_the_same_topic(tmp_path: Path) -> None:
    Export(tmp_path).run(numbered([{"a": 1}]))
    other = Export(tmp_path, "other")
    other.run(numbered([{"a": 1}], "u"))
    with pytest.raises(ConfigError, match="connector copy writes there"):
        other.run(numbered([{"a": 1}]), sequence=2)


@pytest.mark.parametrize("damage", ["change", "remove"])
def test_damaged_staged_files_are_not_published(export: Export, damage: str) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    marker = committer.commit(interval.key, export.stage(interval, records))
    (place,) = (export.out / "_connect" / "+tmp").rglob("*.parquet")
    place.write_bytes(b"else") if damage == "change" else place.unlink()
    with pytest.raises(ConnectError, match="the interval's manifest names it"):
        committer.publish(interval.key, marker)
    assert export.files() == []


def test_sweep_removes_finished_staging_only(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    records = numbered([{"a": 2}])
    unfinished = export.interval(records, 2)
    export.stage(unfinished, records)
    committer = export.committer()
    committer.sweep([])
    assert [place.name for place in (export.out / "_connect" / "+tmp" / "copy").iterdir()] == ["1-2"]
    committer.abandon(unfinished.key, None)
    committer.sweep([unfinished.key])
    assert [place.name for place in (export.out / "_connect" / "+tmp" / "copy").iterdir()] == ["1-2"]
    committer.sweep([])
    assert not list((export.out / "_connect" / "+tmp" / "copy").iterdir())
    committer.close()


def test_a_disk_that_refuses_fails_the_task(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    records = numbered([{"a": 1}])
    task = export.task(export.interval(records))
    task.put(records)

    def full(descriptor: int, data: memoryview) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("connect_core.connectors.staged_file._write_all", full)
    with pytest.raises(ConnectError, match="No space left"):
        task.stage({TopicPartition("t", 0): 1})
    task.stop()


# -- names and places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topic", ["../../etc", "/etc/passwd", "_connect", ".hidden", "a/b", "x" * 249, "%2e%2e", "é\n"]
)
def test_hostile_topics_stay_within_the_folder(export: Export, batches: bool, topic: str) -> None:
    export.run(numbered([{"a": 1}], topic), batches=batches)
    (name,) = export.files()
    assert not name.startswith((".", "_"))
    assert {place.name for place in export.folder.iterdir()} == {"out"}


def test_hostile_connector_names_stay_within_the_folder(tmp_path: Path) -> None:
    export = Export(tmp_path, "../../+tmp")
    export.committer()
    assert {place.name for place in tmp_path.iterdir()} == {"out"}


@pytest.mark.parametrize(
    ("path", "message"),
    [("/etc", "allows"), ("../out", "allows"), ("file", "not a folder"), ("link", "allows"), ("", "empty")],
)
def test_start_refuses_folders_it_may_not_write(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("/etc")
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    with pytest.raises(ConfigError, match=message):
        connector.start({"path": path})
    assert message in connector.validate_live({"path": path}, limits_of(tmp_path))["path"][0]


def test_tasks_share_one_configuration(tmp_path: Path) -> None:
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    connector.start(CONFIG)
    assert connector.task_configs(2) == [CONFIG, CONFIG]
    assert connector.task_class() is FileSystemSinkTask
    assert connector.alter_offsets(CONFIG, {})
    assert connector.validate_live(CONFIG, limits_of(tmp_path)) == {}


@pytest.mark.parametrize("codec", ["none", "snappy", "lz4", "zstd", "gzip"])
def test_codecs_are_parquets(tmp_path: Path, codec: str) -> None:
    export = Export(tmp_path, **{"parquet.codec": codec})
    export.run(numbered([{"a": 1}]))
    (place,) = export.out.glob("t/*/*.parquet")
    found = pq.ParquetFile(place).metadata.row_group(0).column(0).compression
    assert found.lower().startswith("uncompressed" if codec == "none" else codec)
