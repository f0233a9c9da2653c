"""Rows updated and deleted by key, read back by pyiceberg, and by DuckDB from the files."""

from __future__ import annotations

import decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api import SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import INT32_SCHEMA, Date, Instant, Time, Timestamp
from connect_core.connectors.iceberg.sink import IcebergSinkConnector
from connect_core.errors import ConfigError, DataError
from tests.connectors.contexts import Reporter, limits_of
from tests.connectors.iceberg.lake import Lake, numbered

pytestmark = pytest.mark.slow

UPSERT = {"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "id"}


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    lake.set(UPSERT)
    return lake


def tombstone(key: Any, offset: int, partition: int = 0) -> SinkRecord:
    return SinkRecord("t", partition, key=key, value=None, kafka_offset=offset, timestamp=1000)


def rows(lake: Lake, *names: str) -> list[tuple[Any, ...]]:
    """Return what both readers find, which must be the same."""
    found = sorted((tuple(row[name] for name in names) for row in lake.rows()), key=repr)
    files = [task.file.file_path.removeprefix("file://") for task in lake.table().scan().plan_files()]
    columns = ", ".join(f'"{name}"' for name in names)
    with duckdb.connect() as reader:
        text = f"SELECT {columns} FROM read_parquet({files}, union_by_name=true)"
        read = reader.execute(text).fetchall() if files else []
    assert sorted(read, key=repr) == found
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
    assert len(keyed.table().snapshots()) == 3
    assert keyed.table().schema().identifier_field_names() == {"id"}


def test_an_operation_that_begins_with_d_deletes(lake: Lake, batches: bool) -> None:
    lake.set({"iceberg.tables.cdc-field": "_cdc.op", "iceberg.tables.default-id-columns": "a, b"})
    sent = [(1, "x", "I"), (1, "y", "c"), (2, "x", None), (1, "x", "D"), (3, "x", "delete"), (3, "x", "U")]
    lake.run(numbered([{"a": a, "b": b, "_cdc": {"op": op}} for a, b, op in sent]), batches=batches)
    assert rows(lake, "a", "b") == [(1, "y"), (2, "x"), (3, "x")]
    gone = numbered([{"a": 1, "b": "y", "_cdc": {"op": " d"}}, {"a": 9, "b": "y", "_cdc": {"op": "D"}}], first=6)
    lake.run(gone, sequence=2, batches=batches)
    assert rows(lake, "a", "b") == [(2, "x"), (3, "x")]


def test_rows_without_any_of_the_keys_stay_in_their_files(keyed: Lake) -> None:
    for number in range(3):
        keyed.run(numbered([{"id": number * 10}, {"id": number * 10 + 1}], first=number * 2), sequence=number + 1)
    before = {task.file.file_path for task in keyed.table().scan().plan_files()}
    keyed.run([*numbered([{"id": 10}], first=6), tombstone(5, 7)], sequence=4)
    after = {task.file.file_path for task in keyed.table().scan().plan_files()}
    assert (len(before), len(before & after), len(after)) == (3, 2, 4)
    summary = keyed.table().snapshots()[-1].summary.additional_properties
    assert (summary["deleted-data-files"], summary["connect-core.copied-records"]) == ("1", "1")
    assert rows(keyed, "id") == [(0,), (1,), (10,), (11,), (20,), (21,)]


def test_deletions_alone_are_an_interval(keyed: Lake) -> None:
    keyed.run([tombstone(1, 0)])
    keyed.run(numbered([{"id": 1}, {"id": 2}], first=1), sequence=2)
    keyed.run([tombstone(1, 3), tombstone(7, 4)], sequence=3)
    assert rows(keyed, "id") == [(2,)]
    keyed.run([tombstone(7, 5)], sequence=4)
    keyed.run([tombstone(2, 6)], sequence=5)
    assert rows(keyed, "id") == []
    operations = [one.summary.operation.value for one in keyed.table().snapshots()]
    assert operations == ["append", "overwrite", "append", "delete"]


def test_a_row_moves_with_the_value_it_is_partitioned_by(keyed: Lake, batches: bool) -> None:
    keyed.set({"iceberg.tables.default-partition-by": "country, bucket(id, 4)"})
    keyed.run(numbered([{"id": n, "country": "at"} for n in range(8)]), batches=batches)
    moved = numbered([{"id": n, "country": "ch" if n else None} for n in range(4)], first=8)
    keyed.run(moved, sequence=2, batches=batches)
    expected = [(n, "at") for n in range(4, 8)] + [(n, "ch") for n in range(1, 4)] + [(0, None)]
    assert rows(keyed, "id", "country") == sorted(expected, key=repr)
    found = {(task.file.partition[0], task.file.record_count) for task in keyed.table().scan().plan_files()}
    assert sum(count for country, count in found if country == "at") <= 4
    with keyed.table().update_spec() as update:
        update.remove_field("country")
    keyed.run(numbered([{"id": 5, "country": "de"}, {"id": 1, "country": "de"}], first=12), sequence=3)
    expected = [(4, "at"), (6, "at"), (7, "at"), (2, "ch"), (3, "ch"), (1, "de"), (5, "de"), (0, None)]
    assert rows(keyed, "id", "country") == sorted(expected, key=repr)


def test_columns_are_added_and_the_key_widened(keyed: Lake) -> None:
    keyed.catalog.create_namespace("db")
    keyed.catalog.create_table("db.orders", pa.schema([pa.field("id", pa.int32()), pa.field("v", pa.string())]))
    keyed.table().append(pa.table({"id": pa.array([1, 2, None], pa.int32()), "v": ["a", "b", "c"]}))
    keyed.run(numbered([{"id": 2, "v": "d", "more": 1.5}, {"id": 2**40, "v": "e"}]))
    assert keyed.types() == {"id": "long", "v": "string", "more": "double"}
    found = sorted((row["id"] or 0, row["v"], row["more"]) for row in keyed.rows())
    assert found == [(0, "c", None), (1, "a", None), (2, "d", 1.5), (2**40, "e", None)]
    keyed.run([tombstone(1, 2), *numbered([{"id": 2**40, "v": "f", "extra": True}], first=3)], sequence=2)
    assert sorted((row["id"] or 0, row["v"], row["extra"]) for row in keyed.rows()) == [
        (0, "c", None), (2, "d", None), (2**40, "f", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "keys",
    [
        ["a", "ä" * 40, ""],
        [b"", b"\x00\xff", b"a"],
        [True, False],
        [decimal.Decimal("-1.50"), decimal.Decimal("2.25"), decimal.Decimal("0.00")],
        [-(2**63), 0, 2**63 - 1],
    ],
    ids=lambda keys: type(keys[0]).__name__,
)
def test_keys_of_each_type_are_found(keyed: Lake, batches: bool, keys: list[Any]) -> None:
    keyed.run(numbered([{"id": key, "v": 0} for key in keys]), batches=batches)
    keyed.run(numbered([{"id": keys[1], "v": 1}, {"id": keys[0], "v": 1}], first=9), sequence=2, batches=batches)
    keyed.run([tombstone(keys[0], 20)], sequence=3, batches=batches)
    assert rows(keyed, "v", "id") == sorted([(1, keys[1]), *((0, key) for key in keys[2:])], key=repr)


def test_keys_of_times_are_found(lake: Lake, batches: bool) -> None:
    lake.set({**UPSERT, "iceberg.tables.default-id-columns": "day,time,at"})
    parts = SchemaBuilder.struct().field("day", Date.SCHEMA).field("time", Time.SCHEMA).field("at", Timestamp.SCHEMA)
    schema = parts.field("v", INT32_SCHEMA).build()

    def sent(number: int, v: int) -> Struct:
        places = Instant(number * 86_400_000), Instant(number), Instant(number * 86_400_000 + 7)
        return Struct.of_values(schema, (*places, v))

    lake.run(numbered([sent(number, 0) for number in range(4)], value_schema=schema), batches=batches)
    lake.run(numbered([sent(1, 1), sent(5, 1)], value_schema=schema, first=4), sequence=2, batches=batches)
    lake.run(numbered([sent(2, 2)], value_schema=schema, first=6), sequence=3, batches=batches)
    found = [(row["day"].toordinal() - 719163, row["v"]) for row in lake.rows()]
    assert sorted(found) == [(0, 0), (1, 1), (2, 2), (3, 0), (5, 1)]


def test_names_are_compared_in_any_case_if_asked(keyed: Lake) -> None:
    keyed.set({"iceberg.tables.schema-case-insensitive": "true", "iceberg.tables.default-id-columns": "ID"})
    keyed.run(numbered([{"Id": 1, "v": "a"}, {"Id": 2, "v": "b"}]))
    keyed.run([*numbered([{"iD": 1, "V": "c"}], first=2), tombstone({"ID": 2}, 3)], sequence=2)
    assert rows(keyed, "Id", "v") == [(1, "c")]


def test_the_key_is_that_of_the_table_if_none_is_named(lake: Lake) -> None:
    lake.set(UPSERT)
    lake.run(numbered([{"id": 1, "v": "a"}]))
    lake.set({"iceberg.tables.default-id-columns": ""})
    lake.run(numbered([{"id": 1, "v": "b"}], first=1), sequence=2)
    assert rows(lake, "id", "v") == [(1, "b")]


def test_a_table_with_a_key_can_be_appended_to_again(keyed: Lake) -> None:
    keyed.run(numbered([{"id": 1, "v": "a"}]))
    keyed.set({"iceberg.tables.upsert-mode-enabled": "false"})
    keyed.run(numbered([{"id": 1, "v": "b", "more": 1}], first=1), sequence=2)
    assert rows(keyed, "id", "v") == [(1, "a"), (1, "b")]
    with pytest.raises(DataError, match="column id is required"):
        keyed.stage(numbered([{"v": "c"}], first=2), 3)
    keyed.set({"iceberg.tables.upsert-mode-enabled": "true"})
    keyed.run(numbered([{"id": 1, "v": "d"}], first=2), sequence=3)
    assert rows(keyed, "id", "v", "more") == [(1, "d", None)]


def test_a_key_in_several_partitions_is_one_row(keyed: Lake) -> None:
    first = numbered([{"id": 1, "v": "p0"}, {"id": 2, "v": "p0"}])
    keyed.run(first, numbered([{"id": 1, "v": "p1"}], partition=1), numbered([{"id": 3, "v": "p2"}], partition=2))
    assert rows(keyed, "id", "v") == [(1, "p1"), (2, "p0"), (3, "p2")]
    keyed.run(numbered([{"id": 1, "v": "q0"}], first=2), [tombstone(1, 1, partition=1)], sequence=2)
    assert rows(keyed, "id", "v") == [(2, "p0"), (3, "p2")]


def test_rows_that_do_not_fit_in_memory_go_to_disk(keyed: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.connectors.lake.upsert_writer._SPOOLED", 1)
    interval = numbered([{"id": n % 7, "v": n, **({"w": "x"} if n > 20 else {})} for n in range(30)])
    keyed.stage(interval)
    connector_rows = [interval[n : n + 3] for n in range(0, 30, 3)]
    keyed.run([record for some in connector_rows for record in some], batches=False)
    assert rows(keyed, "id", "v", "w") == sorted(((n % 7, n, "x") for n in range(23, 30)), key=repr)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (SinkRecord("t", 0, value={"v": 1}, kafka_offset=1), "the value has no value for id"),
        (SinkRecord("t", 0, value={"id": None, "v": 1}, kafka_offset=1), "the value has no value for id"),
        (SinkRecord("t", 0, key={"di": 1}, value=None, kafka_offset=1), "the record's key has no value for id"),
        (SinkRecord("t", 0, key=None, value=None, kafka_offset=1), "the record's key has no value for id"),
        (SinkRecord("t", 0, key="one", value=None, kafka_offset=1), "field id holds a value"),
        (SinkRecord("t", 0, value={"id": "one"}, kafka_offset=1), "field id holds a value"),
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


def test_a_missing_operation_is_refused_by_name(keyed: Lake) -> None:
    keyed.set({"iceberg.tables.cdc-field": "op"})
    with pytest.raises(DataError, match=r"no field op, which iceberg\.tables\.cdc-field names"):
        keyed.stage(numbered([{"id": 1}]))


def test_null_values_may_be_ignored_or_fail(keyed: Lake) -> None:
    keyed.set({"behavior.on.null.values": "ignore"})
    keyed.run([*numbered([{"id": 1}]), tombstone(1, 1)])
    assert rows(keyed, "id") == [(1,)]
    keyed.set({"behavior.on.null.values": "fail"})
    with pytest.raises(DataError, match=r"behavior\.on\.null\.values is fail"):
        keyed.stage([tombstone(1, 2)], 2)


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"behavior.on.null.values": "write"}, "behavior.on.null.values", "has no key"),
        (
            {"iceberg.tables.route-field": "to", "iceberg.table.db.orders.route-regex": ".*"},
            "behavior.on.null.values",
            "set ignore or fail",
        ),
    ],
)
def test_settings_that_contradict_are_named(changes: dict[str, str], key: str, text: str, keyed: Lake) -> None:
    values = IcebergSinkConnector().validate({**keyed.config, **changes})
    errors = {value.name: value.error_messages for value in values if value.error_messages}
    assert list(errors) == [key]
    assert text in errors[key][0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"iceberg.tables.default-id-columns": "nr"}, "nr for configuration .* has no column of this name; name some"),
        ({"iceberg.tables.default-id-columns": "f"}, "f for configuration .* has the type float"),
        ({"iceberg.tables.default-id-columns": "s"}, "s for configuration .* has the type struct"),
        ({"iceberg.tables.default-id-columns": ""}, "name the columns of the key"),
        ({"iceberg.tables": "db.absent", "iceberg.tables.default-id-columns": ""}, "name the columns of the key"),
        ({"iceberg.table.db.orders.id-columns": "nr"}, r"configuration iceberg\.table\.db\.orders\.id-columns"),
        ({"iceberg.tables": "", "table.name.format": "db.${topic}", "topics": "orders",
          "iceberg.tables.default-id-columns": "f"}, "has the type float"),
    ],
)  # fmt: skip
def test_tables_without_such_a_key_are_refused(keyed: Lake, changes: dict[str, str], text: str) -> None:
    keyed.catalog.create_namespace("db")
    kinds = [("id", pa.int64()), ("f", pa.float32()), ("s", pa.struct([("x", pa.int32())]))]
    keyed.catalog.create_table("db.orders", pa.schema(kinds))
    keyed.set(changes)
    live = keyed.connector().validate_live(keyed.config, limits_of(keyed.folder))
    assert list(live) == ["iceberg.tables.default-id-columns"]
    (message,) = live["iceberg.tables.default-id-columns"]
    with pytest.raises(ConfigError, match=text):
        raise ConfigError(message)
    if "table.name.format" not in changes:
        with pytest.raises(ConfigError, match=text):
            keyed.stage(numbered([{"id": 1, "f": 0.5}]))


def test_a_new_table_takes_no_floating_point_key(keyed: Lake) -> None:
    with pytest.raises(ConfigError, match=r"id for configuration .* has the type double"):
        keyed.stage(numbered([{"id": 0.5}]))


Model = dict[int, tuple[int, str | None]]
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
    lake.set({**UPSERT, "iceberg.tables.cdc-field": "op"})
    if is_partitioned:
        lake.set({"iceberg.tables.default-partition-by": "truncate(op, 1), bucket(id, 2)"})
    model: Model = {}
    offset = 0
    lake.run(numbered([{"id": 99, "op": "x", "v": 0}]))
    model[99] = (0, "x")
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
    found = keyed.table().scan().to_arrow().sort_by("id")
    assert found.column("id").to_pylist() == list(range(count))
    assert found.column("v").to_pylist() == [3 if n % 3 == 0 else 2 if n % 2 == 0 else 1 for n in range(count)]
