"""Names that a table cannot have are refused by field, at any depth; others are merged."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from connect_core.connectors.lake.types import Evolution, merged_schema
from connect_core.errors import DataError

NUMBER = pa.int64()
NOTHING = pa.schema([])


def struct(*names: str) -> pa.DataType:
    return pa.struct([(name, NUMBER) for name in names])


DEEP = {
    "n.": struct,
    "n[].": lambda *names: pa.list_(struct(*names)),
    "n[][].": lambda *names: pa.map_(pa.string(), pa.list_(struct(*names))),
    "n.m[].": lambda *names: pa.struct([("m", pa.list_(struct(*names)))]),
}


@pytest.mark.parametrize(("path", "within"), DEEP.items())
@pytest.mark.parametrize("standing", [(), ("x",)])
def test_an_empty_name_is_refused_at_any_depth(path: str, within: Any, standing: tuple[str, ...]) -> None:
    table = pa.schema([("n", within(*standing))]) if standing else NOTHING
    found = pa.schema([("n", within("x", ""))])
    with pytest.raises(DataError, match=r"whose name is empty.*ReplaceField") as caught:
        merged_schema(table, found, Evolution(True, takes_empty=False))
    assert f"field {path[:-1]} has a field" in str(caught.value)
    assert merged_schema(table, found, Evolution(True)) == found


def test_an_empty_name_of_a_column_is_refused_unless_it_is_left_out() -> None:
    table, found = pa.schema([("a", NUMBER)]), pa.schema([("a", NUMBER), ("", NUMBER)])
    with pytest.raises(DataError, match="the value has a field whose name is empty"):
        merged_schema(table, found, Evolution(True, takes_empty=False))
    assert merged_schema(table, found, Evolution(False, takes_empty=False)) == table


@pytest.mark.parametrize(("path", "within"), [("", struct), *DEEP.items()])
@pytest.mark.parametrize("standing", [(), ("Xx",)])
@pytest.mark.parametrize("evolution", [Evolution(True, takes_case=False), Evolution(True, ignores_case=True)])
def test_names_that_differ_in_case_alone_are_refused(
    path: str, within: Any, standing: tuple[str, ...], evolution: Evolution
) -> None:
    def columns(*names: str) -> pa.Schema:
        return pa.schema([("n", within(*names))]) if path else pa.schema([(name, NUMBER) for name in names])

    table = columns(*standing) if standing else NOTHING
    with pytest.raises(DataError, match=r"case of its name is ignored; .*ReplaceField") as caught:
        merged_schema(table, columns("y", "Xx", "xX"), evolution)
    assert f"fields {path}Xx and {path}xX would" in str(caught.value)
    assert merged_schema(table, columns("y", "Xx", "xX"), Evolution(True))


def test_a_name_of_another_case_is_refused_where_it_would_be_added_to_a_table() -> None:
    table, found = pa.schema([("A", NUMBER)]), pa.schema([("a", NUMBER)])
    with pytest.raises(DataError, match="fields A and a would be one column"):
        merged_schema(table, found, Evolution(True, takes_case=False))
    assert merged_schema(table, found, Evolution(False, takes_case=False)) == table
    assert merged_schema(table, found, Evolution(True, ignores_case=True)) == table
