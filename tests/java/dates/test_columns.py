"""Columns of dates have the texts and instants that each value has by itself."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connect_core.java.dates.columns import format_column, parse_column
from connect_core.java.dates.format import SimpleDateFormat
from connect_core.java.instant import Instant

PATTERNS = (
    "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "yyyy-MM-dd HH:mm:ss",
    "yyyyMMddHHmmssSSS",
    "dd/MM/yyyy",
    "yyyy",
    "y-M-d H:m:s.S",
    "EEE MMM dd HH:mm:ss zzz yyyy",
    "hh:mm a, dd MMM yy",
    "HH 'o''clock' E",
    "SSS.ss.mm.HH",
    "K k D w W F u Y G X",
    "'Ereignis' yyyy'E5'MM",
    "yyyy'0'MM",
    "",
    "'text'",
)
MILLIS = st.integers(-(10**14), 10**14) | st.integers(1_600_000_000_000, 1_800_000_000_000)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(millis=st.lists(st.none() | MILLIS, max_size=20))
@example(millis=[-1, 0, 1, 86_399_999, 86_400_000, -86_400_000, None])
def test_formatted_as_one_by_one(pattern: str, millis: list[int | None]) -> None:
    form = SimpleDateFormat(pattern)
    expected = [None if one is None else form.format(Instant(one)) for one in millis]
    assert format_column(pa.array(millis, pa.int64()), form).to_pylist() == expected


@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.data())
def test_parsed_as_one_by_one(pattern: str, data: st.DataObject) -> None:
    form = SimpleDateFormat(pattern)
    written = MILLIS.map(lambda one: form.format(Instant(one)))
    other = written.map(lambda text: text.replace("1", "15")) | written.map(lambda text: f"{text}5")
    digits = st.text("0123456789-: .TE", max_size=24)
    texts: list[str | None] = data.draw(
        st.lists(st.none() | written, max_size=12) | st.lists(written | other | digits, max_size=4)
    )
    parsed = [None if one is None else form.parse(one) for one in texts]
    expected = [None if one is None else one.epoch_millis for one in parsed]
    found = parse_column(pa.array(texts, pa.string()), form)
    assert (None if found is None else found.to_pylist()) == (
        None if parsed.count(None) > texts.count(None) else expected
    )
