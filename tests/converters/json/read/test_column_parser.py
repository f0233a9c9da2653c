"""JSON texts of one shape as columns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.converters.json.read.column_parser import ColumnParserError, parse_columns
from connect_core.converters.json.read.shapes import ArrayShape, ObjectShape, ScalarShape

Rows = st.lists(
    st.fixed_dictionaries(
        {
            "it's": st.none() | st.integers(-(10**18), 10**18),
            "text": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
            "ü": st.none() | st.booleans(),
            "nested": st.none()
            | st.fixed_dictionaries({"amount": st.none() | st.floats(allow_nan=False, allow_infinity=False)}),
            "list": st.none() | st.lists(st.none() | st.lists(st.none() | st.text('ab\0\n"', max_size=3))),
        }
    ),
    min_size=1,
    max_size=5,
)
SHAPE = ObjectShape(
    (
        ("it's", ScalarShape.INTEGER),
        ("text", ScalarShape.STRING),
        ("ü", ScalarShape.BOOLEAN),
        ("nested", ObjectShape((("amount", ScalarShape.FRACTION),))),
        ("list", ArrayShape(ArrayShape(ScalarShape.STRING))),
    )
)


@given(Rows)
def test_columns_hold_what_the_texts_say(rows: list[dict[str, object]]) -> None:
    parsed = parse_columns(pa.array([orjson.dumps(row).decode() for row in rows]), SHAPE)
    assert parsed.to_pylist() == rows


def test_many_rows_and_long_ones() -> None:
    rows = [{"text": "x" * length} for length in (*range(10_000), 3_000_000)]
    parsed = parse_columns(
        pa.array([orjson.dumps(row).decode() for row in rows]), ObjectShape((("text", ScalarShape.STRING),))
    )
    assert parsed.to_pylist() == rows


def test_names_that_differ_only_in_case_are_not_parsed() -> None:
    shape = ObjectShape((("id", ScalarShape.INTEGER), ("ID", ScalarShape.INTEGER)))
    with pytest.raises(ColumnParserError, match=r"(?i)duplicate keys"):
        parse_columns(pa.array(['{"id":1,"ID":2}']), shape)


def test_a_connection_starts_no_threads() -> None:
    threads = Path("/proc/self/task")

    def added() -> int:
        before = len(list(threads.iterdir()))
        parse_columns(pa.array(['{"id":1}']), ObjectShape((("id", ScalarShape.INTEGER),)))
        return len(list(threads.iterdir())) - before

    with ThreadPoolExecutor(1) as new_thread:
        assert new_thread.submit(added).result() <= 0


def test_a_shape_is_parsed_again_with_other_texts() -> None:
    shape = ObjectShape((("id", ScalarShape.INTEGER),))
    for first in range(3):
        rows = [{"id": first + number} for number in range(3 - first)]
        assert parse_columns(pa.array([orjson.dumps(row).decode() for row in rows]), shape).to_pylist() == rows


def test_a_text_that_is_no_json_spoils_no_later_ones() -> None:
    shape = ObjectShape((("id", ScalarShape.INTEGER),))
    for _ in range(2):
        with pytest.raises(ColumnParserError):
            parse_columns(pa.array(['{"id":']), shape)
        assert parse_columns(pa.array(['{"id":7}']), shape).to_pylist() == [{"id": 7}]


def test_many_shapes_one_after_the_other() -> None:
    for _ in range(2):
        for number in range(100):
            shape = ObjectShape(((f"of {number}", ScalarShape.INTEGER),))
            assert parse_columns(pa.array([f'{{"of {number}":1}}']), shape).to_pylist() == [{f"of {number}": 1}]


def test_texts_are_not_held_after_they_were_parsed() -> None:
    texts = pa.array([f'{{"id":{number}}}' for number in range(100_000)])
    parse_columns(texts, ObjectShape((("id", ScalarShape.INTEGER),)))
    before = pa.total_allocated_bytes()
    size = texts.nbytes
    del texts
    assert before - pa.total_allocated_bytes() >= size


def test_threads_parse_side_by_side() -> None:
    shape = ObjectShape((("id", ScalarShape.INTEGER),))

    def parsed(start: int) -> bool:
        wanted = list(range(start, start + 500))
        texts = pa.array([f'{{"id":{number}}}' for number in wanted])
        return all(parse_columns(texts, shape).field("id").to_pylist() == wanted for _ in range(20))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(parsed, range(0, 80_000, 1000)))
