"""Values, types, columns, partitions and routes, as readers of the tables find them."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    Time,
    Timestamp,
)
from connect_core.errors import ConfigError, DataError
from tests.connectors.contexts import Reporter
from tests.connectors.iceberg.lake import Lake, numbered
from tests.connectors.lake.row_contract import RowContract
from tests.connectors.lake.times import PLACES, beyond_the_calendar
from tests.full_run import examples

pytestmark = pytest.mark.slow

MILLIS = 1_700_000_000_123


def test_every_type_arrives_as_it_was_sent(lake: Lake, batches: bool) -> None:
    inner = SchemaBuilder.struct().field("x", INT32_SCHEMA).field("y", OPTIONAL_STRING_SCHEMA).build()
    parts = {
        "flag": (BOOLEAN_SCHEMA, True, True, "boolean"),
        "i8": (INT8_SCHEMA, -8, -8, "int"),
        "i16": (INT16_SCHEMA, -16, -16, "int"),
        "i32": (INT32_SCHEMA, 2**31 - 1, 2**31 - 1, "int"),
        "i64": (INT64_SCHEMA, -(2**63), -(2**63), "long"),
        "f32": (FLOAT32_SCHEMA, 0.5, 0.5, "float"),
        "f64": (FLOAT64_SCHEMA, math.inf, math.inf, "double"),
        "text": (STRING_SCHEMA, "Zoë 🦆", "Zoë 🦆", "string"),
        "bytes": (BYTES_SCHEMA, b"\x00\xff", b"\x00\xff", "binary"),
        "price": (Decimal.schema(2), decimal.Decimal("-12.30"), decimal.Decimal("-12.30"), "decimal(38, 2)"),
        "day": (Date.SCHEMA, Instant(86_400_000), datetime.date(1970, 1, 2), "date"),
        "time": (Time.SCHEMA, Instant(1500), datetime.time(0, 0, 1, 500_000), "time"),
        "at": (Timestamp.SCHEMA, Instant(MILLIS),
               datetime.datetime.fromtimestamp(MILLIS / 1000, datetime.UTC), "timestamptz"),
        "list": (SchemaBuilder.array(INT32_SCHEMA).build(), [1, 2], [1, 2], None),
        "map": (SchemaBuilder.map(STRING_SCHEMA, INT64_SCHEMA).build(), {"k": 1}, [("k", 1)], None),
        "struct": (inner, Struct.of_values(inner, (7, None)), {"x": 7, "y": None}, None),
        "none": (OPTIONAL_STRING_SCHEMA, None, None, "string"),
    }  # fmt: skip
    builder = SchemaBuilder.struct()
    for name, (schema, *_) in parts.items():
        builder.field(name, schema)
    schema = builder.build()
    value = Struct.of_values(schema, tuple(value for _, value, _, _ in parts.values()))
    lake.run(numbered([value], value_schema=schema), batches=batches)
    assert lake.rows() == [{name: expected for name, (_, _, expected, _) in parts.items()}]
    types = lake.types()
    assert {name: types[name] for name in parts if parts[name][3]} == {
        name: kind for name, (*_, kind) in parts.items() if kind
    }


def test_columns_are_added_and_made_wider_and_optional(lake: Lake, batches: bool) -> None:
    def sent(schema: Any, values: tuple[Any, ...]) -> Any:
        return Struct.of_values(schema, values)

    lake.catalog.create_namespace("db")
    lake.catalog.create_table(
        "db.orders", pa.schema([pa.field("id", pa.int32(), False), pa.field("v", pa.float32(), False)])
    )
    first = SchemaBuilder.struct().field("id", INT32_SCHEMA).field("v", FLOAT32_SCHEMA).build()
    lake.run(numbered([sent(first, (1, 0.5))], value_schema=first), batches=batches)
    assert lake.types() == {"id": "int", "v": "float"}
    second = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("note", STRING_SCHEMA).build()
    lake.run(numbered([sent(second, (2**40, "x"))], value_schema=second, first=1), sequence=2, batches=batches)
    third = SchemaBuilder.struct().field("v", FLOAT64_SCHEMA).build()
    lake.run(numbered([sent(third, (0.1,))], value_schema=third, first=2), sequence=3, batches=batches)
    assert lake.types() == {"id": "long", "v": "double", "note": "string"}
    rows = sorted(lake.rows(), key=lambda row: row["id"] or 0)
    assert rows == [
        {"id": None, "v": 0.1, "note": None},
        {"id": 1, "v": 0.5, "note": None},
        {"id": 2**40, "v": None, "note": "x"},
    ]


def test_several_tasks_find_columns_at_once(lake: Lake) -> None:
    lake.run(*(numbered([{f"c{task}": task, "n": {"x": {f"y{task}": 1}}}], partition=task) for task in range(4)))
    assert sorted(lake.types()) == ["c0", "c1", "c2", "c3", "n"]
    assert sum(1 for row in lake.rows() for name in row if name.startswith("c") and row[name] is not None) == 4


def test_topics_with_other_columns_in_one_batch_lose_none(lake: Lake, batches: bool) -> None:
    lake.run([*numbered([{"a": 1}], "one"), *numbered([{"b": 2}], "two")], batches=batches)
    assert sorted(lake.rows(), key=repr) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_without_evolution_tables_stay_as_they_are(lake: Lake, batches: bool) -> None:
    lake.set({"iceberg.tables.evolve-schema-enabled": "false"})
    lake.run(numbered([{"a": 1}]), batches=batches)
    lake.run(numbered([{"a": 2, "more": "x"}], first=1), sequence=2, batches=batches)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]
    assert lake.types() == {"a": "long"}


def test_a_missing_table_is_named(lake: Lake) -> None:
    lake.set({"iceberg.tables.auto-create-enabled": "false"})
    with pytest.raises(ConfigError, match=r"table db\.orders does not exist"):
        lake.stage(numbered([{"a": 1}]))


def test_a_value_that_does_not_fit_is_refused_alone(lake: Lake, batches: bool) -> None:
    lake.run(numbered([{"a": 1}]))
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 2}, {"a": "no number"}, {"a": 3}], first=1), sequence=2, batches=batches)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 3]
    ((record, error),) = lake.reporter.reported
    assert record.kafka_offset == 2
    assert "topic t, partition 0, offset 2: field a holds a value that its column cannot" in str(error)


@pytest.mark.parametrize("value", [1.5, 2.0**70, True, {"x": 1}, [1], b"1", "1"])
def test_nothing_is_rounded_cut_or_guessed(lake: Lake, value: Any) -> None:
    lake.run(numbered([{"a": 1}]))
    with pytest.raises(DataError, match="field a"):
        lake.stage(numbered([{"a": value}], first=1), 2)


def test_partitions_are_those_of_the_transforms(lake: Lake, batches: bool) -> None:
    lake.set({"iceberg.tables.default-partition-by": "country, bucket(id, 4), truncate[2](name), day(at)"})
    schema = (
        SchemaBuilder.struct()
        .field("id", INT64_SCHEMA)
        .field("country", OPTIONAL_STRING_SCHEMA)
        .field("name", STRING_SCHEMA)
        .field("at", Timestamp.SCHEMA)
        .build()
    )
    values = [(n, ("de", None, "../../x")[n % 3], f"name{n % 2}", Instant(MILLIS + n * 43_200_000)) for n in range(40)]
    lake.run(numbered([Struct.of_values(schema, value) for value in values], value_schema=schema), batches=batches)
    table = lake.table()
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "bucket[4]", "truncate[2]", "day"]
    assert sorted(row["id"] for row in lake.rows()) == list(range(40))
    for country, count in (("de", 14), ("../../x", 13)):
        scan = table.scan(row_filter=f"country = '{country}'")
        assert len(scan.to_arrow()) == count
        assert {task.file.partition[0] for task in scan.plan_files()} == {country}
    assert len(table.scan(row_filter="country is null").to_arrow()) == 13
    assert len(list(table.scan(row_filter="id = 7").plan_files())) < len(list(table.scan().plan_files()))
    assert all(place.is_relative_to(lake.folder) for place in lake.data_files())


def test_files_staged_under_an_earlier_spec_keep_it(lake: Lake) -> None:
    lake.run(numbered([{"a": 1, "b": "x"}]))
    staged = lake.stage(numbered([{"a": 2, "b": "y"}], first=1), 2)
    with lake.table().update_spec() as update:
        update.add_identity("b")
    committer = lake.committer()
    committer.publish(lake.key(2), committer.commit(lake.key(2), staged))
    lake.run(numbered([{"a": 3, "b": "z"}], first=2), sequence=3)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 3]
    assert [row["a"] for row in lake.table().scan(row_filter="b = 'y'").to_arrow().to_pylist()] == [2]


def test_fields_have_whatever_names_they_have(lake: Lake, batches: bool) -> None:
    names = ["a.b", "a b", "ä", "../x", "%2F", "=", "select", "x" * 1000, "1", "-", "🦆", "A", "a", '"', "'; --"]
    lake.run(numbered([dict.fromkeys(names, 1) | {"a": 7}]), batches=batches)
    assert lake.rows() == [dict.fromkeys(names, 1) | {"a": 7}]


def test_topics_of_all_names_have_tables_of_their_own(lake: Lake) -> None:
    lake.set({"iceberg.tables": "", "table.name.format": "db.${topic}"})
    topics = ["a.b", "a_b", "a-b", "A", "x" * 150]
    lake.run([record for number, topic in enumerate(topics) for record in numbered([{"n": number}], topic)])
    assert [lake.rows(("db", topic)) for topic in topics] == [[{"n": number}] for number in range(len(topics))]


@pytest.mark.parametrize(
    "name", ["../../x.y", "db.../x", "db./etc", "db", "", ".hidden.t", "db.a\x00b", "db." + "x" * 500]
)
def test_a_route_leads_into_the_warehouse_only(lake: Lake, name: str) -> None:
    lake.set({
        "iceberg.tables": "", "iceberg.tables.dynamic-enabled": "true", "iceberg.tables.route-field": "to",
    })  # fmt: skip
    lake.reporter = Reporter()
    lake.run(numbered([{"to": name, "a": 1}, {"to": "DB.Fine", "a": 2}]))
    assert [row["a"] for row in lake.rows("db.fine")] == [2]
    assert len(lake.reporter.reported) == (1 if name else 0)
    assert all(place.is_relative_to(lake.folder / "warehouse" / "db") for place in lake.data_files())


def test_a_record_goes_to_each_table_it_matches(lake: Lake) -> None:
    lake.set({
        "iceberg.tables": "db.orders,db.all", "iceberg.tables.route-field": "meta.kind",
        "iceberg.table.db.orders.route-regex": "order.*", "iceberg.table.db.all.route-regex": ".+",
    })  # fmt: skip
    lake.run(numbered([{"meta": {"kind": kind}, "a": n} for n, kind in enumerate(["order", "user", None, "reorder"])]))
    assert [row["a"] for row in lake.rows()] == [0]
    assert sorted(row["a"] for row in lake.rows("db.all")) == [0, 1, 3]


def test_without_a_route_each_record_goes_to_all_tables(lake: Lake) -> None:
    lake.set({"iceberg.tables": "db.orders,db.copies", "iceberg.table.db.copies.commit-branch": "audit"})
    lake.run(numbered([{"a": 1}]))
    lake.run(numbered([{"a": 2}], first=1), sequence=2)
    assert lake.rows("db.copies") == []
    assert len(lake.table("db.copies").scan().use_ref("audit").to_arrow()) == 2


def test_a_branch_begins_where_main_stands(lake: Lake) -> None:
    lake.run(numbered([{"a": 1}]))
    lake.set({"iceberg.tables.default-commit-branch": "audit"})
    lake.run(numbered([{"a": 2}], first=1), sequence=2)
    assert lake.rows() == [{"a": 1}]
    assert sorted(row["a"] for row in lake.table().scan().use_ref("audit").to_arrow().to_pylist()) == [1, 2]


def test_null_values_are_left_out_unless_wanted(lake: Lake) -> None:
    lake.run(numbered([{"a": 1}, None]))
    assert lake.rows() == [{"a": 1}]
    lake.set({"behavior.on.null.values": "write", "include.metadata": "true"})
    lake.run(numbered([None], first=2), sequence=2)
    assert {row["a"] for row in lake.rows()} == {1, None}


def test_names_are_found_in_whatever_case(lake: Lake) -> None:
    lake.set({"iceberg.tables.schema-case-insensitive": "true"})
    lake.run(numbered([{"Id": 1, "In": {"X": 1}}]))
    lake.run(numbered([{"ID": 2, "in": {"x": 2, "y": 3}}], first=1), sequence=2)
    rows = sorted(lake.rows(), key=lambda row: row["Id"])
    assert rows == [{"Id": 1, "In": {"X": 1, "y": None}}, {"Id": 2, "In": {"X": 2, "y": 3}}]


def test_wide_tables_and_many_of_them(lake: Lake) -> None:
    tables = range(examples(12, 50))
    lake.set({"iceberg.tables": "", "table.name.format": "db.${topic}"})
    wide = {f"c{number:03d}": number for number in range(200)}
    lake.run([record for topic in tables for record in numbered([wide | {"c000": topic}], f"t{topic}")])
    assert [lake.rows(f"db.t{topic}")[0]["c000"] for topic in tables] == list(tables)


@pytest.mark.parametrize("place", PLACES)
def test_a_time_beyond_the_calendar_is_refused_by_record(lake: Lake, batches: bool, place: str) -> None:
    """The statistics of a file cannot hold it, so that it would fail the interval as a whole."""
    schema, rows = beyond_the_calendar(place)
    records = numbered(rows, value_schema=schema)
    with pytest.raises(DataError, match=rf"topic t, partition 0, offset 1: field {place}.*years 1 to 9999"):
        lake.run(records, batches=batches)
    lake.reporter = Reporter()
    lake.run(records, batches=batches)
    assert [record.kafka_offset for record, _ in lake.reporter.reported] == [1]
    assert [row["id"] for row in lake.rows()] == [0, 2]


@pytest.mark.parametrize("odd", [{"": 2}, {"s": {"": 2}}, {"l": [{"": 2}]}])
def test_an_empty_name_is_refused_by_record(lake: Lake, batches: bool, odd: Any) -> None:
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 1}, {"a": 2} | odd, {"a": 3}]), batches=batches)
    ((record, error),) = lake.reporter.reported
    assert record.kafka_offset == 1
    assert "offset 1: " in str(error)
    assert "whose name is empty" in str(error)
    assert lake.rows() == [{"a": 1}, {"a": 3}]


@pytest.mark.parametrize("odd", [{"A": 5}, {"s": {"X": 1, "x": 2}}])
def test_where_case_is_ignored_no_value_is_lost_beside_one_of_another_case(lake: Lake, batches: bool, odd: Any) -> None:
    lake.set({"iceberg.tables.schema-case-insensitive": "true"})
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 1}, {"a": 2} | odd, {"a": 3}]), batches=batches)
    ((record, error),) = lake.reporter.reported
    assert record.kafka_offset == 1
    assert "would be one column" in str(error)
    assert lake.rows() == [{"a": 1}, {"a": 3}]


def test_rows_are_the_same_however_they_are_divided(lake: Lake, batches: bool) -> None:
    """Rows of nulls or empty lists alone say nothing of a type: the table does, and gets no column for them."""
    first = {"a": 1, "l": [1], "s": {"x": 1, "l": ["t"]}}
    others: list[Any] = [
        {"a": None}, {}, {"l": []}, {"l": None}, {"l": [], "s": {"x": 2, "l": []}}, {"s": {"l": []}},
        {"l": [2], "s": {"l": ["u"]}},
    ]  # fmt: skip
    lake.set({"iceberg.tables": "db.whole"})
    lake.run(numbered([first, *others]), batches=batches)
    lake.set({"iceberg.tables": "db.parts"})
    for number, value in enumerate([first, *others]):
        lake.run(numbered([value], first=8 + number), sequence=number + 2, batches=batches)
    assert sorted(lake.rows("db.parts"), key=repr) == sorted(lake.rows("db.whole"), key=repr)
    assert {"a": None, "l": [], "s": None} in lake.rows("db.parts")


@pytest.mark.parametrize(
    "odd",
    [{"p-q": 1, "p_x2Dq": 2}, {"s": {"1z": 1, "_1z": 2}}, {"s": {"q": 1}, "s.q": 2}, {"l": [1], "l.element": 2}],
)
def test_names_that_are_one_to_iceberg_are_refused_by_record(lake: Lake, batches: bool, odd: Any) -> None:
    """Files spell odd names in letters, and the path of a nested field is a name too."""
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 1}, {"a": 2} | odd, {"a": 3}]), batches=batches)
    ((record, error),) = lake.reporter.reported
    assert record.kafka_offset == 1
    assert "multiple fields for name" in str(error)
    assert lake.rows() == [{"a": 1}, {"a": 3}]


class TestRows(RowContract):
    keyed: ClassVar = {
        "iceberg.tables.upsert-mode-enabled": "true",
        "iceberg.tables.default-id-columns": "id",
        "iceberg.tables.evolve-schema-enabled": "false",
    }
