from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.connectors.filesystem.casting import cast_array
from connect_core.connectors.filesystem.columns import (
    KindConflict,
    kind_of_array,
    kind_of_type,
    merge_columns,
    merge_kinds,
    stored,
    to_kind,
    to_text,
    to_type,
)
from connect_core.errors import DataError
from tests.connectors.examples import MANY

pytestmark = pytest.mark.slow

NUMBERS = ("int8", "int16", "int32", "int64", "float", "double")
LOGICAL = ("date32[day]", "time32[ms]", "timestamp[ms, tz=UTC]")
DECIMALS = ("decimal128(38, 2)", "decimal128(38, 5)", "decimal256(76, 40)")
SCALARS = st.sampled_from(["null", "bool", "string", "binary", *NUMBERS, *LOGICAL, *DECIMALS])
NAMES = st.sampled_from("abc")
KINDS = st.recursive(
    SCALARS,
    lambda inner: (
        st.tuples(st.just("list"), inner)
        | st.tuples(st.just("map"), st.just("string"), inner)
        | st.tuples(st.just("struct"), st.dictionaries(NAMES, inner, max_size=2).map(lambda it: tuple(it.items())))
    ),
    max_leaves=4,
)


def unordered(kind: Any) -> Any:
    """A kind without the order of its fields."""
    if isinstance(kind, tuple) and kind[0] == "struct":
        return "struct", frozenset((name, unordered(part)) for name, part in kind[1])
    return (kind[0], *map(unordered, kind[1:])) if isinstance(kind, tuple) else kind


def merged(*kinds: Any) -> Any:
    result: Any = "null"
    try:
        for kind in kinds:
            result = merge_kinds(result, kind)
    except KindConflict:
        return "conflict"
    return unordered(result)


@MANY
@given(KINDS, KINDS)
def test_merging_has_no_order(one: Any, other: Any) -> None:
    assert merged(one, other) == merged(other, one)
    assert merged(one, one) == unordered(one)


@MANY
@given(KINDS, KINDS, KINDS)
def test_merging_has_no_grouping(one: Any, two: Any, three: Any) -> None:
    if merged(one, two) != "conflict" and merged(two, three) != "conflict":
        left = merged(merge_kinds(one, two), three)
        assert left == merged(one, merge_kinds(two, three)) == merged(one, two, three)


@MANY
@given(KINDS)
def test_text_gives_the_kind_back(kind: Any) -> None:
    assert to_kind(to_text(kind)) == kind


@MANY
@given(KINDS)
def test_type_gives_the_kind_back(kind: Any) -> None:
    assert kind_of_type(to_type(kind)) == kind


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ("null", "string", "string"),
        ("int64", "double", "double"),
        ("int8", "float", "double"),
        ("int8", "int32", "int32"),
        ("float", "double", "double"),
        (("list", "null"), ("list", "int64"), ("list", "int64")),
        ("string", "int64", KindConflict),
        ("bool", "int64", KindConflict),
        ("decimal128(38, 2)", "int64", KindConflict),
        (("list", "int64"), "int64", KindConflict),
        (("struct", ()), ("map", "string", "string"), KindConflict),
    ],
)
def test_merging_widens_or_refuses(one: Any, other: Any, result: Any) -> None:
    if result is KindConflict:
        with pytest.raises(KindConflict):
            merge_kinds(one, other)
    else:
        assert merge_kinds(one, other) == result


def test_a_conflict_names_the_field() -> None:
    nested = (("a", ("struct", (("b", ("list", "int64")),))),)
    other = (("a", ("struct", (("b", ("list", "string")),))),)
    with pytest.raises(KindConflict, match=r"field a\.b\[\] holds string where int64 is stored"):
        merge_columns(nested, other)


def test_stored_leaves_out_what_only_nulls_are_known_of() -> None:
    columns = (
        ("a", "int64"),
        ("b", "null"),
        ("c", ("list", "null")),
        ("d", ("struct", (("x", "null"), ("y", "string")))),
        ("e", ("struct", ())),
    )
    assert stored(columns) == (("a", "int64"), ("d", ("struct", (("y", "string"),))))


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (pa.array([None], pa.int64()), "null"),
        (pa.array([1, None], pa.int64()), "int64"),
        (pa.array([[], None], pa.list_(pa.int64())), ("list", "null")),
        (pa.array([{"a": None}, None], pa.struct([("a", pa.string())])), ("struct", (("a", "null"),))),
        (pa.array([{"a": "x"}, None], pa.struct([("a", pa.string())])).slice(1), "null"),
        (pa.array([[{"a": 1}]]), ("list", ("struct", (("a", "int64"),)))),
        (pa.array(["x"]).dictionary_encode(), "string"),
    ],
)
def test_kind_of_array_looks_at_values_only(array: Any, kind: Any) -> None:
    assert kind_of_array(array) == kind


def test_types_without_a_schema_are_refused() -> None:
    with pytest.raises(DataError, match="duration"):
        kind_of_type(pa.duration("s"))


VALUES = st.none() | st.fixed_dictionaries(
    {
        "n": st.none() | st.integers(-1000, 1000),
        "l": st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=3),
        "s": st.none() | st.fixed_dictionaries({"t": st.none() | st.text("ab", max_size=2)}),
    }
)
NARROW = pa.struct([("n", pa.int64()), ("l", pa.list_(pa.int32())), ("s", pa.struct([("t", pa.string())]))])
WIDE = (
    "struct",
    (
        ("more", "string"),
        ("s", ("struct", (("t", "string"), ("u", "bool")))),
        ("l", ("list", "double")),
        ("n", "double"),
    ),
)


@MANY
@given(st.lists(VALUES, max_size=6), st.integers(0, 3))
def test_casting_keeps_values_and_adds_nulls(values: Any, skipped: Any) -> None:
    array = pa.array(values, NARROW)[skipped:]
    cast = cast_array(array, WIDE)
    cast.validate(full=True)
    assert cast.type == to_type(WIDE)
    expected = [
        value
        and {
            "more": None,
            "s": value["s"] and {**value["s"], "u": None},
            "l": value["l"],
            "n": value["n"],
        }
        for value in values[skipped:]
    ]
    assert cast.to_pylist() == expected
