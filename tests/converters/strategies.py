"""Random JSON texts, in the forms of several writers and with the oddities that readers differ in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson
from hypothesis import strategies as st

__all__ = ["messages", "similar_messages"]

_TEXT = st.text(alphabet=st.sampled_from('aé中😀"\\/\n\t\x00\x1f\u2028 ,:{}[]0-1.'), max_size=6)
_WHOLE = [
    "0",
    "-0",
    "1",
    "-5",
    "01",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "123456789012345678901234",
]
_FRACTIONS = ["0.1", "-0.0", "0.0", "1.0", "1e5", "1E400", "1e-400"]
_FRACTIONS += [
    "-1e-400",
    "100000000000000000000.5",
    "3.141592653589793238462643",
    "2e23",
    "16777217.0",
    "1.17549435E-38",
]
_NUMBERS = st.sampled_from(_WHOLE + _FRACTIONS)
_SCALARS = st.sampled_from(["null", "true", "false"]) | _NUMBERS | _TEXT.map(json.dumps)
_NAMES = st.sampled_from(["a", "b", "c", "é", 'q"', "schema", "payload"])


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members) + "}"


def _array(items: list[str]) -> str:
    return f"[{', '.join(items)}]"


_TEXTS = st.recursive(
    _SCALARS,
    lambda parts: st.lists(parts, max_size=3).map(_array) | st.lists(st.tuples(_NAMES, parts), max_size=3).map(_object),
    max_leaves=6,
)
_ENDS = st.sampled_from(["", "", "", "", " ", "\n", " trailing", "]", "}", ",", '"', "\x00", "{}"])
_BROKEN = st.sampled_from(
    [b"", b" ", b"{", b"[1,", b"nope", b"+1", b".5", b"NaN", b'"\xff"', b'"\xc3"', b'"\xed\xa0\xbd"']
)
_MARKED = st.sampled_from(["\ufeff1".encode(), '{"a":1}'.encode("utf-16"), "[1]".encode("utf-32-be"), b'"\\ud83d"'])

messages = st.tuples(_TEXTS, _ENDS).map("".join).map(str.encode) | _BROKEN | _MARKED
"""Any message, good or bad."""

_WRITERS: list[Callable[[Any], bytes]] = [
    orjson.dumps,
    lambda value: json.dumps(value).encode(),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(),
    lambda value: json.dumps(value, indent=1).encode(),
]
_COLUMNS: list[st.SearchStrategy[Any]] = [
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(-9, 9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.5, -0.0, 1e300, 1e-7, 12.25]),
    _TEXT,
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=3),
    st.lists(st.none() | _TEXT, max_size=2),
    st.fixed_dictionaries({"x": st.integers(0, 9), "y": st.none() | _TEXT}),
    st.none() | st.fixed_dictionaries({"x": st.none()}),
]


@st.composite
def similar_messages(draw: st.DrawFn) -> list[bytes | None]:
    """Return messages of one shape and writer, now and then with one that is different."""
    shape = draw(st.dictionaries(_NAMES, st.sampled_from(_COLUMNS), max_size=4))
    nulls = draw(st.booleans())
    rows = st.fixed_dictionaries({name: st.none() | column if nulls else column for name, column in shape.items()})
    write = draw(st.sampled_from(_WRITERS))
    found: list[bytes | None] = [write(row) for row in draw(st.lists(rows, min_size=1, max_size=5))]
    if draw(st.integers(0, 4)) == 0:
        found.insert(draw(st.integers(0, len(found))), draw(st.none() | messages))
    return found
