"""What becomes of rows without values in tables of any format.

A test module has a fixture ``lake`` and a class that inherits from the contract.
"""

from __future__ import annotations

from tests.connectors.contexts import Reporter
from tests.connectors.lake.table_sink import TableSink, numbered

__all__ = ["RowContract"]


class RowContract:
    """Nulls and empty lists say nothing of a type."""

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
