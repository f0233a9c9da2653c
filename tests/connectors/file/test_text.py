from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api import Columns, Objects, SchemaBuilder, Struct
from connect_core.api.arrow import to_arrow_array
from connect_core.api.data import INT64_SCHEMA, OPTIONAL_INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, STRING_SCHEMA
from connect_core.connectors.file.text import lines_of_data, lines_of_values
from tests.connectors.examples import MANY

pytestmark = pytest.mark.slow

SCHEMA = SchemaBuilder.struct().field("line", STRING_SCHEMA).field("source", OPTIONAL_STRING_SCHEMA).build()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("foo", b"foo\n"),
        ("é\nx", "é\nx\n".encode()),
        (None, b"null\n"),
        (True, b"true\n"),
        (1.0, b"1.0\n"),
        ({"line": "foo", "data_source": "x"}, b"{line=foo, data_source=x}\n"),
        ({"a": None, "b": [1, "c"]}, b"{a=null, b=[1, c]}\n"),
        ({}, b"{}\n"),
        (Struct(SCHEMA).put("line", "foo"), b"Struct{line=foo}\n"),
        (Struct(SCHEMA).put("line", "foo").put("source", "x"), b"Struct{line=foo,source=x}\n"),
        ("\ud800", b"?\n"),
    ],
)
def test_lines_of_values_are_javas(value: Any, line: Any) -> None:
    assert lines_of_values([value]) == line
    assert lines_of_data(Objects([None], [value])) == line


def columns(kind: pa.DataType, values: list[object]) -> Columns:
    return Columns(None, pa.array(values, kind))


TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
ROWS = st.fixed_dictionaries(
    {
        "text": st.none() | TEXT,
        "number": st.none() | st.integers(-(2**63), 2**63 - 1),
        "flag": st.none() | st.booleans(),
        "ratio": st.none() | st.floats(width=64),
        "list": st.none() | st.lists(st.integers(0, 9), max_size=3),
        "map": st.none() | st.fixed_dictionaries({"in, ner": st.none() | TEXT}),
    }
)
KIND = pa.struct(
    [
        ("text", pa.string()),
        ("number", pa.int64()),
        ("flag", pa.bool_()),
        ("ratio", pa.float64()),
        ("list", pa.list_(pa.int64())),
        ("map", pa.struct([("in, ner", pa.string())])),
    ]
)


@MANY
@given(st.lists(st.none() | ROWS, max_size=5))
def test_maps_are_equal_in_columns(rows: Any) -> None:
    ordered = [row and {name: row[name] for name in KIND.names} for row in rows]
    assert lines_of_data(columns(KIND, ordered)) == lines_of_values(ordered)


@MANY
@given(st.lists(st.none() | TEXT), st.integers(0, 3))
def test_strings_are_equal_in_columns(values: Any, skipped: Any) -> None:
    array = pa.array(values, pa.string())[skipped:]
    assert lines_of_data(Columns(STRING_SCHEMA, array)) == lines_of_values(values[skipped:])


@MANY
@given(st.lists(st.tuples(TEXT, st.none() | TEXT), max_size=5))
def test_structs_are_equal_in_columns(rows: Any) -> None:
    structs = [Struct(SCHEMA).put("line", line).put("source", source) for line, source in rows]
    array = to_arrow_array(SCHEMA, structs)
    if array is None:
        array = pa.array(
            [{"line": line, "source": source} for line, source in rows],
            pa.struct([("line", "string"), ("source", "string")]),
        )
    assert lines_of_data(Columns(SCHEMA, array)) == lines_of_values(structs)


INNER = SchemaBuilder.struct().optional().field("text", OPTIONAL_STRING_SCHEMA).build()
OUTER = SchemaBuilder.struct().optional().field("n", OPTIONAL_INT64_SCHEMA).field("inner", INNER).build()
INNERS = st.none() | st.builds(lambda text: Struct(INNER).put("text", text), st.none() | TEXT)
OUTERS = st.none() | st.builds(
    lambda n, inner: Struct(OUTER).put("n", n).put("inner", inner), st.none() | st.integers(0, 9), INNERS
)


@MANY
@given(st.sampled_from([(INNER, INNERS), (OUTER, OUTERS)]), st.data(), st.integers(0, 2))
def test_structs_of_nulls_are_equal_in_columns(kind: Any, data: st.DataObject, skipped: int) -> None:
    schema, values = kind
    structs = data.draw(st.lists(values, max_size=5))
    array = to_arrow_array(schema, structs)
    assert array is not None
    assert lines_of_data(Columns(schema, array[skipped:])) == lines_of_values(structs[skipped:])


def test_a_struct_of_nulls_has_a_line() -> None:
    array = pa.array([{"text": "x"}, {"text": None}, None], pa.struct([("text", pa.string())]))
    assert lines_of_data(Columns(INNER, array)) == b"Struct{text=x}\nStruct{}\nnull\n"


def test_whole_numbers_are_equal_in_columns() -> None:
    assert lines_of_data(Columns(INT64_SCHEMA, pa.array([1, -2]))) == b"1\n-2\n"
    assert lines_of_data(columns(pa.struct([]), [{}, None])) == b"{}\nnull\n"
