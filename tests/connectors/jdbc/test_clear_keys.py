"""Keys that no collation takes for another one of the batch change places freely; all others keep theirs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from connect_core.connectors.jdbc.catalog import Column, Table, TableName
from connect_core.connectors.jdbc.dialects.writes import Verb
from connect_core.connectors.jdbc.sink.clear_keys import rows_with_clear_keys
from connect_core.connectors.jdbc.sink.config import InsertMode
from connect_core.connectors.jdbc.sink.write_order import FittedRows, writes_of

TEXT, NUMBER = Column("a", sa.String(40)), Column("b", sa.BigInteger())
TABLE = Table(TableName(None, "t"), (TEXT, NUMBER), ("a",))


def clear(*texts: str) -> list[bool]:
    return list(rows_with_clear_keys(pa.table({"a": pa.array(texts, pa.string())}), TABLE).to_pylist())


@pytest.mark.parametrize(
    "texts",
    [
        ("user-1", "user-2", "user-11"),
        ("Müller1", "Maier1", "Øre"[1:]),
        ("日本", "user"),
        ("a", "a", "b"),
    ],
)
def test_keys_that_differ_in_letters_are_clear(texts: tuple[str, ...]) -> None:
    assert clear(*texts) == [True] * len(texts)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("a", "A", "b"), [False, False, True]),
        (("12-3", "1-23", "4-5"), [False, False, True]),
        (("e", "é", "f"), [False, False, True]),
        (("strasse", "straße", "x"), [False, False, True]),
        (("a", "a ", "b"), [False, False, True]),
        (("カ", "か", "x"), [False, False, True]),
        (("ae", "æ", "x"), [False, False, False]),
        (("😀", "😁", "x"), [False, False, True]),
    ],
)
def test_keys_that_a_collation_may_take_for_one_are_not(texts: tuple[str, ...], expected: list[bool]) -> None:
    assert clear(*texts) == expected


def test_columns_of_a_key_are_taken_together() -> None:
    keys = pa.table({"a": ["x", "X", "X"], "b": pa.array([1, 2, 2], pa.int64())})
    assert rows_with_clear_keys(keys, TABLE).to_pylist() == [True, True, True]
    keys = pa.table({"a": ["x", "X", "y"], "b": pa.array([1, 1, 1], pa.int64())})
    assert rows_with_clear_keys(keys, TABLE).to_pylist() == [False, False, True]


@pytest.mark.parametrize("kind", [pa.float64(), pa.timestamp("us")])
def test_keys_of_types_that_databases_round_are_not_clear(kind: Any) -> None:
    keys = pa.table({"a": pa.array([1, 2], pa.int64()).cast(kind)})
    assert rows_with_clear_keys(keys, TABLE).to_pylist() == [False, False]


def test_only_unclear_keys_cost_a_write_for_each_change() -> None:
    """One pair of them must not slow down a whole batch."""
    keys = [f"{n // 10}-{n % 10}x" for n in range(100)] + ["12-3", "1-23"] * 2
    deleted = [n % 3 == 0 for n in range(100)] + [False, True, True, False]
    rows = pa.table({"a": keys, "b": pa.array(range(len(keys)), pa.int64())})
    writes = list(writes_of([FittedRows(TABLE, ("a",), rows, pa.array(deleted))], InsertMode.UPSERT, 1000))
    assert [(write.verb, write.data.num_rows) for write in writes] == [
        (Verb.DELETE, 34), (Verb.UPSERT, 66), (Verb.UPSERT, 1), (Verb.DELETE, 2), (Verb.UPSERT, 1),
    ]  # fmt: skip
