"""Rows of a batch as Arrow: what has no type yet."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from connect_core.connectors.filesystem.rows import columns_of_values, rows_of_maps
from connect_core.connectors.lake.table_rows import PLACEHOLDER, arrow_rows
from connect_core.connectors.lake.types import Evolution, creatable, merged_schema

TABLE = pa.schema([("a", pa.int64()), ("l", pa.list_(pa.int64()))])


def of_maps(*values: Any) -> pa.Table:
    return arrow_rows(rows_of_maps(values, columns_of_values(values)))


def test_columns_of_nulls_are_left_out_and_empty_lists_are_kept() -> None:
    rows = of_maps({"a": None, "l": [], "s": {"x": 1, "l": [], "n": None}})
    assert rows.schema.names == ["l", "s"]
    assert rows.to_pylist() == [{"l": [], "s": {"x": 1, "l": [], "n": None}}]


@pytest.mark.parametrize("values", [({"a": None}, {}), ({"l": []},), (None,), ({"s": {"l": [[]]}}, {"s": None})])
def test_rows_without_typed_columns_add_none_to_a_table(values: tuple[Any, ...]) -> None:
    rows = of_maps(*values)
    assert len(rows) == len(values)
    assert merged_schema(TABLE, rows.schema, Evolution(True)) == TABLE
    planned = merged_schema(pa.schema([]), rows.schema, Evolution(True, creates=True))
    assert planned == pa.schema([(PLACEHOLDER, pa.null())])
    assert creatable(planned) == pa.schema([(PLACEHOLDER, pa.string())])


def test_columns_beside_rows_without_any_are_optional() -> None:
    required = pa.schema([pa.field("a", pa.int64(), False)])
    evolution = Evolution(True, creates=True)
    nothing = merged_schema(pa.schema([]), of_maps({"b": None}).schema, evolution)
    optional = pa.schema([("a", pa.int64())])
    assert merged_schema(nothing, required, evolution) == optional
    assert merged_schema(merged_schema(pa.schema([]), required, evolution), nothing, evolution) == optional
