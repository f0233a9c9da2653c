"""Columns that become others after rows were taken."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api import SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import OPTIONAL_FLOAT64_SCHEMA, OPTIONAL_INT64_SCHEMA
from connect_core.connectors.filesystem.bounds import Bounds, changes
from connect_core.connectors.filesystem.columns import kind_of_type, to_type
from connect_core.errors import DataError
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

LARGE = 2**53 + 1
MOST = Decimal("9" * 36 + ".99")


@pytest.mark.parametrize(
    ("value", "narrow", "wide"),
    [
        (LARGE, "int64", "double"),
        (-LARGE, "int64", "double"),
        ([1, None, LARGE], ("list", "int64"), ("list", "double")),
        ({"a": LARGE}, ("struct", (("a", "int64"),)), ("struct", (("b", "string"), ("a", "double")))),
        ([("k", LARGE)], ("map", "string", "int64"), ("map", "string", "double")),
        (MOST, "decimal128(38, 2)", "decimal128(38, 3)"),
    ],
)
def test_a_number_that_would_not_fit_is_found(value: Any, narrow: Any, wide: Any) -> None:
    array = pa.array([None, value, None], to_type(narrow))
    for column in (array, pa.chunked_array([array.slice(2), array])):
        bounds = Bounds()
        bounds.add("n", narrow, column)
        bounds.check((("n", narrow),))
        with pytest.raises(DataError, match=r"field n.* would become .*, which cannot hold -?\d{16}"):
            bounds.check((("n", wide),))
    beside = Bounds()
    beside.add("n", narrow, array.slice(2))
    beside.check((("n", wide),))


def test_the_largest_number_counts() -> None:
    bounds = Bounds()
    for number in (1, -LARGE, 2):
        bounds.add("n", "int64", pa.array([number]))
    with pytest.raises(DataError, match=str(-LARGE)):
        bounds.check((("n", "double"),))
    bounds.check((("m", "double"), ("n", kind_of_type(pa.int64()))))


def test_only_known_columns_change() -> None:
    before = (("a", "int64"),)
    assert not changes((), before)
    assert not changes(before, (("b", "string"), *before))
    assert changes(before, (("a", "double"),))


# -- the record that would make another one unfit is the one refused ---------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        [{"a": LARGE}, {"a": 1.5}, {"a": 3}],
        [{"a": 1.5}, {"a": LARGE}, {"a": 3.0}],
        [{"a": [{"b": LARGE}]}, {"a": [{"b": 1.5}]}, {"a": []}],
        [{"a": Decimal("12345678901.25")}, {"a": Decimal("1e-30")}, {"a": Decimal(3)}],
        [{"a": Decimal("1e-30")}, {"a": Decimal("12345678901.25")}, {"a": Decimal(3)}],
    ],
)
@pytest.mark.parametrize("settings", [{}, {"flush.size": "1"}, {"parquet.row.group.rows": "1"}])
def test_the_later_record_is_refused(
    tmp_path: Path, batches: bool, values: list[Any], settings: dict[str, str]
) -> None:
    export = Export(tmp_path, **settings)
    export.reporter = Reporter()
    export.run(numbered(values), batches=batches)
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1]
    assert sorted(export.rows(), key=str) == sorted((values[0], values[2]), key=str)


@pytest.mark.slow
def test_partitions_of_a_task_keep_each_others_values(export: Export, batches: bool) -> None:
    records = [*numbered([{"a": LARGE}]), *numbered([{"a": 1.5}, {"a": 4}], partition=1)]
    with pytest.raises(DataError, match=r"partition 1, offset 0: field a would become double, which cannot hold"):
        export.run(records, batches=batches)
    export.reporter = Reporter()
    export.run(records, sequence=2, batches=batches)
    assert export.rows() == [{"a": LARGE}, {"a": 4}]


@pytest.mark.slow
def test_a_schema_that_would_round_earlier_integers_is_refused(export: Export, batches: bool) -> None:
    whole, real = (
        SchemaBuilder.struct().field("a", one).build() for one in (OPTIONAL_INT64_SCHEMA, OPTIONAL_FLOAT64_SCHEMA)
    )
    export.reporter = Reporter()
    values = [(whole, LARGE), (real, 1.5), (whole, 3)]
    records = [
        SinkRecord("t", 0, value_schema=schema, value=Struct(schema).put("a", value), kafka_offset=offset)
        for offset, (schema, value) in enumerate(values)
    ]
    export.run(records, batches=batches)
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1]
    assert export.rows() == [{"a": LARGE}, {"a": 3}]
