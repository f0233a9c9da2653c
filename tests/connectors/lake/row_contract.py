"""What becomes of rows without values, and of other types, in tables of any format.

A test module has a fixture ``lake`` and a class that inherits from the contract.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from connect_core.api import SchemaBuilder, Struct
from connect_core.api.data import FLOAT64_SCHEMA, Date, Decimal, Instant, Timestamp
from tests.connectors.contexts import Reporter
from tests.connectors.lake.table_sink import TableSink, numbered

__all__ = ["RowContract"]


class RowContract:
    """Nulls and empty lists say nothing of a type, and no type changes a value."""

    keyed: ClassVar[Mapping[str, str]]
    """Settings by which records replace rows of the same id, and columns stay as they are."""

    def test_rows_of_nulls_leave_no_column_beside_others_of_a_new_table(self, lake: TableSink, batches: bool) -> None:
        lake.run([*numbered([{"a": None}], "t"), *numbered([{"a": 1}], "t", 1)], batches=batches)
        assert sorted(lake.rows(), key=repr) == [{"a": 1}, {"a": None}]

    def test_a_table_of_nulls_alone_has_the_column_of_values(self, lake: TableSink, batches: bool) -> None:
        lake.run(numbered([{"a": None, "l": []}]), batches=batches)
        assert lake.rows() == [{"value": None}]
        lake.run(numbered([{"l": [1]}], first=1), sequence=2, batches=batches)
        assert sorted(lake.rows(), key=repr) == [{"value": None, "l": None}, {"value": None, "l": [1]}]

    def test_an_empty_list_is_no_value_of_another_type(self, lake: TableSink, batches: bool) -> None:
        lake.run(numbered([{"a": 1}]))
        lake.reporter = Reporter()
        lake.run(numbered([{"a": []}, {"a": 2}], first=1), sequence=2, batches=batches)
        assert [record.kafka_offset for record, _ in lake.reporter.reported] == [1]
        assert sorted(row["a"] for row in lake.rows()) == [1, 2]

    def test_a_value_that_its_column_would_change_is_refused_alone(self, lake: TableSink, batches: bool) -> None:
        standing = SchemaBuilder.struct().field("d", FLOAT64_SCHEMA).field("c", Decimal.schema(1))
        schema = standing.field("day", Date.SCHEMA).build()
        lake.run(numbered([Struct.of_values(schema, (0.5, decimal.Decimal("0.1"), Instant(0)))], value_schema=schema))
        other = SchemaBuilder.struct().field("d", Decimal.schema(2)).field("c", FLOAT64_SCHEMA)
        new = other.field("day", Timestamp.SCHEMA).build()
        given = [("0.30", 1.5, 0), ("12345678901234567.89", 1.5, 0), ("0.30", 0.15, 0), ("0.30", 1.5, 86_400_001)]
        values = [Struct.of_values(new, (decimal.Decimal(d), c, Instant(day))) for d, c, day in given]
        lake.reporter = Reporter()
        lake.run(numbered(values, first=1, value_schema=new), sequence=2, batches=batches)
        assert [record.kafka_offset for record, _ in lake.reporter.reported] == [2, 3, 4]
        kept = sorted((row["d"], str(row["c"]), row["day"].isoformat()) for row in lake.rows())
        assert kept == [(0.3, "1.5", "1970-01-01"), (0.5, "0.1", "1970-01-01")]

    def test_fractions_and_decimals_of_one_number_are_the_same(self, lake: TableSink, batches: bool) -> None:
        standing = SchemaBuilder.struct().field("d", FLOAT64_SCHEMA).field("c", Decimal.schema(18)).build()
        lake.run(numbered([Struct.of_values(standing, (0.5, decimal.Decimal(f"{1:.18f}")))], value_schema=standing))
        lake.reporter = Reporter()
        new = SchemaBuilder.struct().field("d", Decimal.schema(2)).field("c", FLOAT64_SCHEMA).build()
        numbers = [number / 100 for number in range(1, 9000, 7)]
        values = [Struct.of_values(new, (decimal.Decimal(f"{one:.2f}"), one)) for one in numbers]
        lake.run(numbered(values, first=1, value_schema=new), sequence=2, batches=batches)
        assert lake.reporter.reported == []
        kept = sorted((row["d"], row["c"]) for row in lake.rows() if row["c"] != 1 or row["d"] != 0.5)
        assert kept == [(one, decimal.Decimal(str(one))) for one in numbers]

    def test_a_null_struct_needs_no_required_field_and_any_other_does(self, lake: TableSink, batches: bool) -> None:
        lake.set(self.keyed)
        inner = pa.struct([pa.field("x", pa.int64(), False), pa.field("y", pa.int64())])
        items = pa.list_(pa.field("element", pa.int64(), False))
        lake.create(pa.schema([pa.field("id", pa.int64(), False), pa.field("s", inner), pa.field("l", items)]))
        rows = [
            {"id": 1, "s": {"x": 1, "y": 1}, "l": [1]},
            {"id": 2, "s": {"y": 2}, "l": [1]},
            {"id": 3, "s": None, "l": [None, 1]},
            {"id": 4, "s": None, "l": None},
            {"id": 5, "s": {"x": 5, "y": None}, "l": []},
        ]
        lake.reporter = Reporter()
        lake.run(numbered(rows), batches=batches)
        assert [record.kafka_offset for record, _ in lake.reporter.reported] == [1, 2]
        assert sorted(lake.rows(), key=lambda row: row["id"]) == [rows[0], *rows[3:]]
        lake.run(numbered([{"id": 1, "s": None, "l": []}], first=5), sequence=2, batches=batches)
        found = sorted(lake.rows(), key=lambda row: row["id"])
        assert found == [{"id": 1, "s": None, "l": []}, *rows[3:]]
