"""Rows updated and deleted by key, read back by delta-rs, and by DuckDB from the files."""

from __future__ import annotations

import datetime
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api import SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import INT32_SCHEMA, Date, Instant, Timestamp
from connect_core.connectors.delta.sink import DeltaSinkConnector
from connect_core.errors import ConfigError, ConnectError, DataError
from tests.connectors.contexts import Reporter, limits_of
from tests.connectors.delta.lake import Lake, numbered

pytestmark = pytest.mark.slow

UPSERT = {"upsert.enabled": "true", "id.columns": "id"}


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    lake.set(UPSERT)
    return lake


def tombstone(key: Any, offset: int, partition: int = 0) -> SinkRecord:
    return SinkRecord("t", partition, key=key, value=None, kafka_offset=offset, timestamp=1000)


def rows(lake: Lake, *names: str) -> list[tuple[Any, ...]]:
    """Return what both readers find, which must be the same; DuckDB does not see partition columns."""
    found = sorted((tuple(row[name] for name in names) for row in lake.rows()), key=repr)
    table = lake.table()
    if not table.metadata().partition_columns and table.file_uris():
        files = [unquote(place) for place in table.file_uris()]
        columns = ", ".join(f'"{name}"' for name in names)
        text = f"SELECT {columns} FROM read_parquet({files!r}, union_by_name=true)"
        with duckdb.connect() as reader:
            assert sorted(reader.execute(text).fetchall(), key=repr) == found
    return found


def test_the_last_record_of_a_key_stands(keyed: Lake, batches: bool) -> None:
    keyed.run(numbered([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 1, "v": "c"}]), batches=batches)
    assert rows(keyed, "id", "v") == [(1, "c"), (2, "b")]
    second = [*numbered([{"id": 2, "v": "d"}, {"id": 3, "v": "e"}], first=3), tombstone({"id": 1}, 5)]
    keyed.run(second, sequence=2, batches=batches)
    assert rows(keyed, "id", "v") == [(2, "d"), (3, "e")]
    again = [tombstone(3, 6), *numbered([{"id": 3, "v": "f"}, {"id": 2, "v": "g"}], first=7), tombstone(2, 9)]
    keyed.run(again, sequence=3, batches=batches)
    assert rows(keyed, "id", "v") == [(3, "f")]
    assert len(keyed.table().history()) == 4


def test_an_operation_that_begins_with_d_deletes(lake: Lake, batches: bool) -> None:
    lake.set({"cdc.field": "_cdc.op", "id.columns": "a, b"})
    sent = [(1, "x", "I"), (1, "y", "c"), (2, "x", None), (1, "x", "D"), (3, "x", "delete"), (3, "x", "U")]
    lake.run(numbered([{"a": a, "b": b, "_cdc": {"op": op}} for a, b, op in sent]), batches=batches)
    assert rows(lake, "a", "b") == [(1, "y"), (2, "x"), (3, "x")]
    gone = numbered([{"a": 1, "b": "y", "_cdc": {"op": " d"}}, {"a": 9, "b": "y", "_cdc": {"op": "D"}}], first=6)
    lake.run(gone, sequence=2, batches=batches)
    assert rows(lake, "a", "b") == [(2, "x"), (3, "x")]


def test_rows_without_any_of_the_keys_stay_in_their_files(keyed: Lake) -> None:
    for number in range(3):
        keyed.run(numbered([{"id": number * 10}, {"id": number * 10 + 1}], first=number * 2), sequence=number + 1)
    before = set(keyed.table().file_uris())
    keyed.run([*numbered([{"id": 10}], first=6), tombstone(5, 7)], sequence=4)
    after = set(keyed.table().file_uris())
    assert (len(before), len(before & after), len(after)) == (3, 2, 4)
    assert rows(keyed, "id") == [(0,), (1,), (10,), (11,), (20,), (21,)]


def test_deletions_alone_are_an_interval(keyed: Lake) -> None:
    keyed.run([tombstone(1, 0)])
    keyed.run(numbered([{"id": 1}, {"id": 2}], first=1), sequence=2)
    keyed.run([tombstone(1, 3), tombstone(7, 4)], sequence=3)
    assert rows(keyed, "id") == [(2,)]
    keyed.run([tombstone(7, 5)], sequence=4)
    keyed.run([tombstone(2, 6)], sequence=5)
    assert rows(keyed, "id") == []
    assert len(keyed.table().history()) == 5


def test_a_row_moves_with_the_value_it_is_partitioned_by(keyed: Lake, batches: bool) -> None:
    keyed.set({"partition.columns": "country"})
    keyed.run(numbered([{"id": n, "country": "a b/ü%"} for n in range(8)]), batches=batches)
    moved = numbered([{"id": n, "country": "ch" if n else None} for n in range(4)], first=8)
    keyed.run(moved, sequence=2, batches=batches)
    expected = [*((n, "a b/ü%") for n in range(4, 8)), *((n, "ch") for n in range(1, 4)), (0, None)]
    assert rows(keyed, "id", "country") == sorted(expected, key=repr)
    keyed.run([tombstone(0, 12), tombstone(1, 13), tombstone(4, 14)], sequence=3)
    assert rows(keyed, "id", "country") == [(2, "ch"), (3, "ch"), *((n, "a b/ü%") for n in range(5, 8))]


def test_a_partition_column_may_be_the_key(keyed: Lake, batches: bool) -> None:
    keyed.set({"partition.columns": "day", "id.columns": "day,id"})
    keyed.run(numbered([{"day": day, "id": n, "v": 0} for day in (1, 2) for n in range(3)]), batches=batches)
    before = set(keyed.table().file_uris())
    keyed.run([*numbered([{"day": 2, "id": 1, "v": 1}], first=6), tombstone({"day": 2, "id": 0}, 7)], sequence=2)
    assert rows(keyed, "day", "id", "v") == [(1, 0, 0), (1, 1, 0), (1, 2, 0), (2, 1, 1), (2, 2, 0)]
    assert len(before & set(keyed.table().file_uris())) == 1
    keyed.set({"id.columns": "day"})
    keyed.run([tombstone(1, 8)], sequence=3)
    assert rows(keyed, "day", "id") == [(2, 1), (2, 2)]


def test_keys_of_times_are_found(keyed: Lake, batches: bool) -> None:
    keyed.set({"id.columns": "day,at", "partition.columns": "day"})
    schema = SchemaBuilder.struct().field("day", Date.SCHEMA).field("at", Timestamp.SCHEMA).field("v", INT32_SCHEMA)
    built = schema.build()

    def sent(number: int, v: int) -> Struct:
        return Struct.of_values(built, (Instant(number * 86_400_000), Instant(number * 86_400_000 + 7), v))

    keyed.run(numbered([sent(number, 0) for number in range(4)], value_schema=built), batches=batches)
    keyed.run(numbered([sent(1, 1), sent(5, 1)], value_schema=built, first=4), sequence=2, batches=batches)
    keyed.run(numbered([sent(2, 2)], value_schema=built, first=6), sequence=3, batches=batches)
    found = [(row["day"].toordinal() - 719163, row["v"]) for row in keyed.rows()]
    assert sorted(found) == [(0, 0), (1, 1), (2, 2), (3, 0), (5, 1)]


def test_columns_are_added_and_files_of_others_read(keyed: Lake) -> None:
    """Another engine wrote into folders with special names, in other Arrow types, by a timestamp of microseconds."""
    at = [datetime.datetime(2026, 1, 1, 0, 0, 0, 1 + n, datetime.UTC) for n in range(3)]
    special = "".join(chr(number) for number in range(33, 127) if chr(number) != "/") + " ä🦆"
    given = pa.table({"id": pa.array([1, 2, None], pa.int32()), "v": pa.array(["a", "b", "c"], pa.large_string()),
                      "p": [special, special, "z"], "at": pa.array(at, pa.timestamp("us", "UTC"))})  # fmt: skip
    write_deltalake(str(keyed.folder / "lake" / "t"), given, partition_by=["p"])
    keyed.run(numbered([{"id": 2, "v": "d", "p": special, "more": 1.5}, {"id": 3, "v": "e", "p": "z"}]))
    expected = [(1, "a", at[0], None), (2, "d", None, 1.5), (3, "e", None, None), (None, "c", at[2], None)]
    assert rows(keyed, "id", "v", "at", "more") == expected


def test_a_path_that_another_writer_encoded_its_own_way_is_named(keyed: Lake) -> None:
    """delta-rs would name another path, and remove nothing."""
    place = keyed.folder / "lake" / "t"
    write_deltalake(str(place), pa.table({"id": [1], "p": ["y"]}), partition_by=["p"])
    log = place / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace("part-", "%70art-"))
    with pytest.raises(ConnectError, match=r"encoded in its own way, .*%70art-.* by OPTIMIZE"):
        keyed.run(numbered([{"id": 1, "p": "x"}]))


def test_a_key_in_several_partitions_is_one_row(keyed: Lake) -> None:
    keyed.set({"partition.columns": "p"})
    first = numbered([{"id": 1, "v": "p0", "p": 7}, {"id": 2, "v": "p0", "p": 7}])
    second = numbered([{"id": 1, "v": "p1", "p": 8}], partition=1)
    keyed.run(first, second, numbered([{"id": 3, "v": "p2", "p": 7}], partition=2))
    assert rows(keyed, "id", "v") == [(1, "p1"), (2, "p0"), (3, "p2")]
    keyed.run(numbered([{"id": 1, "v": "q0", "p": 7}], first=2), [tombstone(1, 1, partition=1)], sequence=2)
    assert rows(keyed, "id", "v") == [(2, "p0"), (3, "p2")]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (SinkRecord("t", 0, value={"v": 1}, kafka_offset=1), "the value has no value for id"),
        (SinkRecord("t", 0, key={"di": 1}, value=None, kafka_offset=1), "the record's key has no value for id"),
        (SinkRecord("t", 0, key="one", value=None, kafka_offset=1), "field id holds a value"),
    ],
)
def test_records_without_a_key_are_refused_by_name(keyed: Lake, record: SinkRecord, text: str) -> None:
    keyed.run(numbered([{"id": 5, "v": 1}]))
    with pytest.raises(DataError, match=f"topic t, partition 0, offset 1: .*{text}"):
        keyed.stage([record], 2)
    keyed.reporter = Reporter()
    keyed.run([record, *numbered([{"id": 6, "v": 2}], first=2)], sequence=2)
    assert rows(keyed, "id", "v") == [(5, 1), (6, 2)]
    assert [one.kafka_offset for one, _ in keyed.reporter.reported] == [1]


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"behavior.on.null.values": "write"}, "behavior.on.null.values", "has no key"),
        ({"id.columns": ""}, "id.columns", "name the columns of the key"),
        ({"upsert.enabled": "false"}, "id.columns", "set upsert.enabled=true"),
        ({"upsert.enabled": "false", "cdc.field": "op", "id.columns": ""}, "id.columns", "name the columns"),
    ],
)
def test_settings_that_contradict_are_named(changes: dict[str, str], key: str, text: str) -> None:
    values = DeltaSinkConnector().validate({"path": "lake", **UPSERT, **changes})
    errors = {value.name: value.error_messages for value in values if value.error_messages}
    assert list(errors) == [key]
    assert text in errors[key][0]


@pytest.mark.parametrize(
    ("changes", "table", "key", "text"),
    [
        ({"id.columns": "nr"}, {}, "id.columns", "table t has no column of this name; name some of id, f, s"),
        ({"id.columns": "f"}, {}, "id.columns", "has the type float in table t"),
        ({"id.columns": "s"}, {}, "id.columns", "has the type struct"),
        ({}, {"delta.appendOnly": "true"}, "upsert.enabled", "unset its property delta.appendOnly"),
        ({}, {"delta.enableDeletionVectors": "true"}, "upsert.enabled", "has deletion vectors; purge them"),
    ],
)
def test_tables_that_cannot_be_updated_are_refused(
    keyed: Lake, changes: dict[str, str], table: dict[str, str], key: str, text: str
) -> None:
    kinds = [("id", pa.int64()), ("f", pa.float32()), ("s", pa.struct([("x", pa.int32())]))]
    DeltaTable.create(str(keyed.folder / "lake" / "t"), pa.schema(kinds), configuration=table)
    keyed.set({**changes, "topics": "t"})
    live = keyed.connector().validate_live(keyed.config, limits_of(keyed.folder))
    assert list(live) == [key]
    assert text in live[key][0]
    with pytest.raises(ConfigError, match=text):
        keyed.stage(numbered([{"id": 1, "f": 0.5}]))


def test_a_new_table_takes_no_floating_point_key(keyed: Lake) -> None:
    with pytest.raises(ConfigError, match=r"id for configuration id\.columns: the column has the type double"):
        keyed.stage(numbered([{"id": 0.5}]))


CHANGES = st.lists(
    st.lists(
        st.tuples(st.integers(0, 9), st.one_of(st.none(), st.sampled_from(["D", "x", "y"])), st.booleans()),
        max_size=12,
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(intervals=CHANGES, is_partitioned=st.booleans(), in_batches=st.booleans())
def test_a_table_is_what_a_dict_would_be(
    tmp_path_factory: pytest.TempPathFactory, intervals: Any, is_partitioned: bool, in_batches: bool
) -> None:
    """Keys are spread over three partitions; ``None`` is a tombstone; each interval is published twice."""
    lake = Lake(tmp_path_factory.mktemp("lake"))
    lake.set({**UPSERT, "cdc.field": "op", **({"partition.columns": "op"} if is_partitioned else {})})
    lake.run(numbered([{"id": 99, "op": "x", "v": 0}]))
    model: dict[int, tuple[int, str | None]] = {99: (0, "x")}
    offset = 0
    for sequence, interval in enumerate(intervals, 2):
        tasks: list[list[SinkRecord]] = [[], [], []]
        for key, op, is_wide in interval:
            offset += 1
            value = None if op is None else {"id": key, "op": op, "v": offset, **({"w": op} if is_wide else {})}
            sent_key = {"id": key} if is_wide else key
            tasks[key % 3].append(SinkRecord("t", key % 3, key=sent_key, value=value, kafka_offset=offset))
            if op in (None, "D"):
                model.pop(key, None)
            else:
                model[key] = (offset, op)
        present = [records for records in tasks if records]
        if present:
            marker = lake.run(*present, sequence=sequence, batches=in_batches)
            lake.committer().publish(lake.key(sequence), marker)
    assert {row["id"]: (row["v"], row["op"]) for row in lake.rows()} == model
    assert len(lake.rows()) == len(model)


def test_two_hundred_thousand_keys(keyed: Lake) -> None:
    count = 200_000
    for sequence, step in enumerate((1, 2, 3), 1):
        keys = range(0, count, step)
        value = pa.StructArray.from_arrays([pa.array(keys), pa.array([sequence] * len(keys))], ["id", "v"])
        keyed.run_batch(value, first=sequence * count, sequence=sequence)
    found = keyed.table().to_pyarrow_table().sort_by("id")
    assert found.column("id").to_pylist() == list(range(count))
    assert found.column("v").to_pylist() == [3 if n % 3 == 0 else 2 if n % 2 == 0 else 1 for n in range(count)]
