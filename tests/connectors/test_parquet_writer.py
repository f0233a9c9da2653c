"""Parquet files have dictionaries for the columns whose values are repeated, and only for those."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.connectors.parquet_writer import ParquetTableWriter, dictionary_columns

ROWS = 100_000


def orders(rows: int = ROWS) -> pa.Table:
    chance = random.Random(1)
    return pa.table({
        "id": pa.array(range(rows)),
        "customer": [f"customer-{number % 10_007}" for number in range(rows)],
        "amount": [chance.random() for _ in range(rows)],
        "status": pa.array([("NEW", "PAID", None)[number % 3] for number in range(rows)], pa.large_string()),
        "a.b": pa.array([1] * rows, pa.int8()),
    })  # fmt: skip


def written(place: Path, *tables: pa.Table, **options: Any) -> pq.ParquetFile:
    with place.open("wb") as output:
        writer = ParquetTableWriter(output, tables[0].schema, options)
        for table in tables:
            writer.write(table)
        writer.close()
        assert writer.metadata.num_rows == sum(map(len, tables))
    return pq.ParquetFile(place)


def with_dictionary(file: pq.ParquetFile, group: int = 0) -> list[str]:
    found = file.metadata.row_group(group)
    columns = [found.column(number) for number in range(found.num_columns)]
    return [column.path_in_schema for column in columns if column.has_dictionary_page]


def test_columns_of_repeated_values_have_a_dictionary(tmp_path: Path) -> None:
    file = written(tmp_path / "orders.parquet", orders(), orders(10))
    assert with_dictionary(file) == ["customer", "status", "a.b"]
    assert file.metadata.num_row_groups == 2
    assert file.read().equals(pa.concat_tables([orders(), orders(10)]))


def test_no_column_has_one_if_dictionaries_are_not_wanted(tmp_path: Path) -> None:
    assert with_dictionary(written(tmp_path / "orders.parquet", orders(), use_dictionary=False)) == []


def test_file_is_smaller_than_with_dictionaries_everywhere(tmp_path: Path) -> None:
    table = orders()
    pq.write_table(table, tmp_path / "all.parquet", compression="zstd", row_group_size=len(table))
    written(tmp_path / "chosen.parquet", table, compression="zstd")
    sizes = [(tmp_path / f"{name}.parquet").stat().st_size for name in ("chosen", "all")]
    assert sizes[0] < 0.9 * sizes[1]


def test_leaves_of_nested_columns_have_their_names_in_the_file(tmp_path: Path) -> None:
    inner = pa.struct({"tags": pa.list_(pa.string()), "big": pa.large_list(pa.int64()), "pair": pa.list_(pa.int8(), 2)})
    kinds = {"at": inner, "m": pa.map_(pa.string(), pa.list_(pa.struct({"x": pa.int64()}))), "plain": pa.int64()}
    row = {"at": {"tags": ["a"], "big": [1], "pair": [1, 2]}, "m": [("k", [{"x": 1}])], "plain": 1}
    table = pa.Table.from_pylist([row] * 10, pa.schema(list(kinds.items())))
    file = written(tmp_path / "nested.parquet", table)
    paths = [file.schema.column(number).path for number in range(len(file.schema))]
    assert dictionary_columns(table) == paths
    assert with_dictionary(file) == paths


@pytest.mark.parametrize("kind", [pa.null(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_values_that_cannot_be_counted_have_a_dictionary(kind: pa.DataType) -> None:
    assert dictionary_columns(pa.table({"value": pa.nulls(3, kind)})) == ["value"]


def test_file_without_rows(tmp_path: Path) -> None:
    with (tmp_path / "empty.parquet").open("wb") as output:
        ParquetTableWriter(output, orders().schema).close()
    assert pq.read_table(tmp_path / "empty.parquet").equals(orders().slice(0, 0))


def test_abandoned_file_gets_no_end(tmp_path: Path) -> None:
    place = tmp_path / "abandoned.parquet"
    with place.open("wb") as output:
        ParquetTableWriter(output, orders().schema).abandon()
        writer = ParquetTableWriter(output, orders().schema)
        writer.write(orders(10))
        writer.abandon()
    del writer
    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(place)
