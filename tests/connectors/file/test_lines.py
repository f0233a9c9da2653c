from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.connectors.file.lines import end_of_last_line, split, whole_line
from tests.connectors.examples import MANY

pytestmark = pytest.mark.slow

PIECES = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", "é".encode(), "日本".encode(), b"\xff", b"\xe2\x82"])
)


def expected(data: bytes) -> list[tuple[str, int]]:
    """Lines and the places behind them, found one character at a time."""
    decided = data[:-1] if data.endswith(b"\r") else data
    found, begin = [], 0
    for end in re.finditer(rb"\r\n|\r|\n", data):
        if end.end() > len(decided):
            break
        found.append((data[begin : end.start()].decode("utf-8", "replace"), end.end()))
        begin = end.end()
    return found


@MANY
@given(PIECES)
def test_split_finds_every_line(pieces: Any) -> None:
    data = b"".join(pieces)
    lines = split(data)
    assert list(zip(lines.texts(), lines.nexts.tolist(), strict=True)) == expected(data)


@MANY
@given(PIECES)
def test_split_is_equal_in_columns(pieces: Any) -> None:
    lines = split(b"".join(pieces))
    assert lines.to_arrow().to_pylist() == lines.texts()


@MANY
@given(PIECES, st.integers(0, 12))
def test_take_keeps_every_line(pieces: Any, count: Any) -> None:
    lines = split(b"".join(pieces))
    first, rest = lines.take(count)
    assert first.texts() + rest.texts() == lines.texts()
    assert first.to_arrow().to_pylist() + rest.to_arrow().to_pylist() == lines.texts()
    assert [*first.nexts, *rest.nexts] == lines.nexts.tolist()


@MANY
@given(PIECES, st.lists(st.integers(1, 5), min_size=1))
def test_split_survives_any_chunks(pieces: Any, sizes: Any) -> None:
    data = b"".join(pieces)
    kept, place, found = b"", 0, []
    for turn in range(len(data) + 1):
        size = sizes[turn % len(sizes)]
        kept, place = kept + data[place : place + size], place + size
        lines = split(kept)
        if len(lines):
            found += lines.texts()
            kept = kept[int(lines.nexts[-1]) :]
    assert found == [text for text, _ in expected(data)]


@MANY
@given(PIECES)
def test_end_of_last_line_agrees_with_split(pieces: Any) -> None:
    data = b"".join(pieces)
    found = expected(data)
    assert end_of_last_line(data) == (found[-1][1] if found else None)


@MANY
@given(PIECES, st.integers(0, 10))
def test_up_to_stops_at_the_limit(pieces: Any, limit: Any) -> None:
    lines = split(b"".join(pieces)).up_to(limit)
    assert lines.texts() == [text for text, end in expected(b"".join(pieces)) if end <= limit]


@pytest.mark.parametrize(("data", "texts"), [(b"", []), (b"rest", ["rest"]), (b"rest\r", ["rest"])])
def test_whole_line_takes_all(data: bytes, texts: Any) -> None:
    lines = whole_line(data)
    assert lines.texts() == lines.to_arrow().to_pylist() == texts
    assert lines.nexts.tolist() == [len(data)] * len(texts)
