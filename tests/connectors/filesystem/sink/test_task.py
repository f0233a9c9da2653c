from __future__ import annotations

import decimal
import json
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
    PartitionRange,
    SchemaBuilder,
    SinkRecord,
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
from connect_core.errors import DataError
from tests.connectors.contexts import Reporter, interval_of
from tests.connectors.examples import FEW
from tests.connectors.filesystem.export import Export, json_of, numbered

pytestmark = pytest.mark.slow


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


def test_files_end_after_so_many_records(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="json", **{"flush.size": "3"})
    export.run(numbered([{"n": number} for number in range(8)]), batches=batches)
    files = {
        file.name: [json.loads(line) for line in file.read_bytes().splitlines()]
        for file in export.out.glob("t/*/*.json")
    }
    assert {name: [row["n"] for row in rows] for name, rows in files.items()} == {
        f"t+0+{0:020}+{8:020}.json": [0, 1, 2],
        f"t+0+{3:020}+{8:020}.json": [3, 4, 5],
        f"t+0+{6:020}+{8:020}.json": [6, 7],
    }


def test_files_of_schemaless_records_have_the_same_columns_however_many_they_are(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, **{"flush.size": "1"})
    export.run(numbered([{"a": 1}, {"b": 2}, {"a": 0.5}]), batches=batches)
    rows = [{"a": 1.0, "b": None}, {"a": None, "b": 2}, {"a": 0.5, "b": None}]
    assert export.rows() == rows
    assert len(export.files()) == 3


def test_files_end_after_so_many_bytes(tmp_path: Path) -> None:
    export = Export(tmp_path, **{"rotate.bytes": "1000"})
    records = numbered([{"n": "x" * 600} for _ in range(6)])
    interval = export.interval(records)
    staged = export.stage(interval, *([record] for record in records))
    committer = export.committer()
    committer.publish(interval.key, committer.commit(interval.key, staged))
    assert [pq.ParquetFile(export.out / name).metadata.num_rows for name in export.files()] == [2, 2, 2]
