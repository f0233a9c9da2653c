"""Values, types, columns and partitions, as readers of the tables find them."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any, ClassVar

import pytest

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
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
from connect_core.connectors.delta import data_files, writer
from connect_core.errors import AttemptError, ConfigError, DataError, RetriableError
from tests.connectors.contexts import Reporter
from tests.connectors.delta.lake import Lake, numbered, total
from tests.connectors.lake.row_contract import RowContract
from tests.connectors.lake.times import PLACES, beyond_the_calendar
from tests.full_run import examples

pytestmark = pytest.mark.slow

MILLIS = 1_700_000_000_123


def test_topics_with_other_columns_in_one_batch_lose_none(lake: Lake) -> None:
    lake.set({"table.name.format": "all"})
    lake.run([*numbered([{"a": 1}], "one"), *numbered([{"b": 2}], "two")])
    assert sorted(lake.rows("all"), key=repr) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_every_type_arrives_as_it_was_sent(lake: Lake, batches: bool) -> None:
    inner = SchemaBuilder.struct().field("x", INT32_SCHEMA).field("y", OPTIONAL_STRING_SCHEMA).build()
    parts = {
        "flag": (BOOLEAN_SCHEMA, True, True),
        "i16": (INT16_SCHEMA, -16, -16),
        "i32": (INT32_SCHEMA, 2**31 - 1, 2**31 - 1),
        "i64": (INT64_SCHEMA, -(2**63), -(2**63)),
        "f32": (FLOAT32_SCHEMA, 0.5, 0.5),
        "f64": (FLOAT64_SCHEMA, math.inf, math.inf),
        "text": (STRING_SCHEMA, "Zoë 🦆", "Zoë 🦆"),
        "bytes": (BYTES_SCHEMA, b"\x00\xff", b"\x00\xff"),
        "price": (Decimal.schema(2), decimal.Decimal("-12.30"), decimal.Decimal("-12.30")),
        "day": (Date.SCHEMA, Instant(86_400_000), datetime.date(1970, 1, 2)),
        "at": (Timestamp.SCHEMA, Instant(MILLIS), datetime.datetime.fromtimestamp(MILLIS / 1000, datetime.UTC)),
        "list": (SchemaBuilder.array(INT32_SCHEMA).build(), [1, 2], [1, 2]),
        "map": (SchemaBuilder.map(STRING_SCHEMA, INT64_SCHEMA).build(), {"k": 1}, [("k", 1)]),
        "struct": (inner, Struct.of_values(inner, (7, None)), {"x": 7, "y": None}),
        "none": (OPTIONAL_STRING_SCHEMA, None, None),
    }
    builder = SchemaBuilder.struct()
    for name, (schema, *_) in parts.items():
        builder.field(name, schema)
    value = Struct.of_values(builder.build(), tuple(value for _, value, _ in parts.values()))
    lake.run(numbered([value], value_schema=value.schema), batches=batches)
    assert lake.rows() == [{name: expected for name, (*_, expected) in parts.items()}]


def test_columns_are_added_also_in_structs(lake: Lake, batches: bool) -> None:
    lake.run(numbered([{"a": 1, "n": {"x": 1}}]), batches=batches)
    lake.run(numbered([{"b": "new", "n": {"x": 2, "y": 3.5}}], first=1), sequence=2, batches=batches)
    rows = sorted(lake.rows(), key=lambda row: row["n"]["x"])
    assert rows == [
        {"a": 1, "n": {"x": 1, "y": None}, "b": None},
        {"a": None, "n": {"x": 2, "y": 3.5}, "b": "new"},
    ]


def test_several_tasks_find_columns_at_once(lake: Lake) -> None:
    lake.run(*(numbered([{f"c{task}": task}], partition=task) for task in range(4)))
    assert sorted(value for row in lake.rows() for value in row.values() if value is not None) == [0, 1, 2, 3]


def test_without_evolution_tables_stay_as_they_are(lake: Lake, batches: bool) -> None:
    lake.set({"auto.evolve": "false"})
    lake.run(numbered([{"a": 1}]), batches=batches)
    lake.run(numbered([{"a": 2, "more": "x"}], first=1), sequence=2, batches=batches)
    assert sorted(lake.rows(), key=lambda row: row["a"]) == [{"a": 1}, {"a": 2}]


def test_a_missing_table_is_named(lake: Lake) -> None:
    lake.set({"auto.create": "false"})
    with pytest.raises(ConfigError, match="table t does not exist"):
        lake.stage(numbered([{"a": 1}]))


def test_a_value_that_does_not_fit_is_refused_alone(lake: Lake, batches: bool) -> None:
    lake.run(numbered([{"a": 1}]))
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 2}, {"a": "no number"}, {"a": 2.5}, {"a": 3}], first=1), sequence=2, batches=batches)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2, 3]
    assert [record.kafka_offset for record, _ in lake.reporter.reported] == [2, 3]


def test_a_double_becomes_the_nearest_float_but_not_infinite(lake: Lake, batches: bool) -> None:
    schema = SchemaBuilder.struct().field("a", FLOAT32_SCHEMA).build()
    lake.run(numbered([Struct.of_values(schema, (0.5,))], value_schema=schema))
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 0.1}, {"a": 1e300}, {"a": math.inf}], first=1), sequence=2, batches=batches)
    assert [record.kafka_offset for record, _ in lake.reporter.reported] == [2]
    assert [round(row["a"], 6) for row in sorted(lake.rows(), key=lambda row: row["a"])] == [0.1, 0.5, math.inf]


def test_a_type_that_delta_lacks_is_named(lake: Lake) -> None:
    schema = SchemaBuilder.struct().field("time", Time.SCHEMA).build()
    with pytest.raises(DataError, match="field time is a time of day"):
        lake.stage(numbered([Struct.of_values(schema, (Instant(1500),))], value_schema=schema))


def test_partitions_are_those_of_the_columns(lake: Lake, batches: bool) -> None:
    lake.set({"partition.columns": "country,day,n"})
    builder = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("country", OPTIONAL_STRING_SCHEMA)
    schema = builder.field("day", Date.SCHEMA).field("n", INT32_SCHEMA).build()
    values = [(n, ("de", None, "../../x =%2F")[n % 3], Instant(86_400_000 * (n % 2)), n % 5) for n in range(60)]
    lake.run(numbered([Struct.of_values(schema, value) for value in values], value_schema=schema), batches=batches)
    rows = sorted(lake.rows(), key=lambda row: row["id"])
    assert [(row["id"], row["country"], row["day"], row["n"]) for row in rows] == [
        (n, country, datetime.date(1970, 1, 1 + n % 2), m) for n, country, _, m in values
    ]
    found = lake.table().to_pyarrow_table(partitions=[("country", "=", "../../x =%2F")])
    assert len(found) == 20
    assert total(lake, "t", "id") == sum(range(60))
    assert all(place.is_relative_to(lake.folder / "lake" / "t" / "connect") for place in lake.data_files())


def test_fields_and_topics_have_whatever_names_they_have(lake: Lake, batches: bool) -> None:
    names = ["a.b", "ä", "../x", "%2F", "select", "x" * 1000, "1", "-", "🦆", '"', "'; --"]
    topics = ["a.b", "a_b", "a-b", "A", "_connect", "ü %2F", "x" * 149]
    value: Any = dict.fromkeys(names, 1)
    lake.run(
        [record for n, topic in enumerate(topics) for record in numbered([value | {"n": n}], topic)], batches=batches
    )
    folders = [place for place in (lake.folder / "lake").iterdir() if place.name != "_connect"]
    found = [row for place in folders for row in lake.rows(place.name)]
    assert sorted(row["n"] for row in found) == list(range(len(topics)))
    assert all(row == value | {"n": row["n"]} for row in found)


def test_wide_tables_and_many_of_them(lake: Lake) -> None:
    tables = range(examples(12, 50))
    wide = {f"c{number:03d}": number for number in range(200)}
    lake.run([record for topic in tables for record in numbered([wide | {"c000": topic}], f"t{topic}")])
    assert [lake.rows(f"t{topic}")[0]["c000"] for topic in tables] == list(tables)


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


@pytest.mark.parametrize("odd", [{"A": 5}, {"s": {"X": 1, "x": 2}}, {"l": [{"X": 1, "x": 2}]}])
def test_names_that_differ_in_case_alone_are_refused_by_record(lake: Lake, batches: bool, odd: Any) -> None:
    """Delta's readers take them for one column, and delta-rs refuses the table."""
    lake.reporter = Reporter()
    lake.run(numbered([{"a": 1}, {"a": 2} | odd, {"a": 3}]), batches=batches)
    ((record, error),) = lake.reporter.reported
    assert record.kafka_offset == 1
    assert "offset 1: " in str(error)
    assert "would be one column" in str(error)
    assert lake.rows() == [{"a": 1}, {"a": 3}]


def test_rows_are_the_same_however_they_are_divided(lake: Lake, batches: bool) -> None:
    """Rows of nulls or empty lists alone say nothing of a type: the table does, and gets no column for them."""
    first = {"a": 1, "l": [1], "s": {"x": 1, "l": ["t"]}}
    others: list[Any] = [
        {"a": None}, {}, {"l": []}, {"l": None}, {"l": [], "s": {"x": 2, "l": []}}, {"s": {"l": []}},
        {"l": [2], "s": {"l": ["u"]}},
    ]  # fmt: skip
    lake.set({"table.name.format": "whole"})
    lake.run(numbered([first, *others]), batches=batches)
    lake.set({"table.name.format": "parts"})
    for number, value in enumerate([first, *others]):
        lake.run(numbered([value], first=8 + number), sequence=number + 2, batches=batches)
    assert sorted(lake.rows("parts"), key=repr) == sorted(lake.rows("whole"), key=repr)
    assert {"a": None, "l": [], "s": None} in lake.rows("parts")


class TestRows(RowContract):
    keyed: ClassVar = {"upsert.enabled": "true", "id.columns": "id"}


@pytest.mark.parametrize("rows_of_a_group", [1, 250_000])
def test_where_a_file_cannot_be_begun_the_attempt_ends(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, rows_of_a_group: int
) -> None:
    """Put or staged again in place, its rows would be left out: the writer has given them to the file."""
    failures = [RetriableError("the store is away for a moment")]
    begin = data_files.begin_data_file

    def failing(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return begin(*arguments)

    monkeypatch.setattr(writer, "begin_data_file", failing)
    monkeypatch.setattr(writer, "_GROUP_ROWS", rows_of_a_group)
    records = numbered([{"a": 1}, {"a": 2}])
    with pytest.raises(AttemptError, match="away for a moment"):
        lake.stage(records)
    lake.run(records)
    assert sorted(row["a"] for row in lake.rows()) == [1, 2]
