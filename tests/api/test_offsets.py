"""Source partitions and offsets: what they may hold."""

from __future__ import annotations

import datetime
import enum
from types import MappingProxyType
from typing import Any

import pytest

from connect_core.api.offsets import canonical, checked_map, parse
from connect_core.errors import DataError


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    """A text of its own class."""


SCALARS = [None, True, 0, -(2**63), 2**63 - 1, 1.5, -0.0, 1e300, "", "x", "Zoë 😀", "\0"]


@pytest.mark.parametrize("value", SCALARS)
def test_scalars_come_back_as_they_were(value: Any) -> None:
    given = {"a": 1, "é": value}
    found = checked_map(given, "source_offset")
    assert found == given
    assert found is not given
    assert repr(parse(canonical(found))) == repr(dict(sorted(found.items())))


def test_subclasses_are_written_as_plain_scalars() -> None:
    found = checked_map(MappingProxyType({Name("k"): Name("v"), "n": Level.HIGH}), "source_offset")
    assert found == {"k": "v", "n": 3}
    assert [type(one) for one in (*found, *found.values())] == [str, str, str, int]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x", "source_offset is 'x', of class str: return a map"),
        (5, "source_offset is 5, of class int: return a map"),
        ([("a", 1)], r"of class list: return a map"),
        ({1: 2}, "source_offset has the key 1, of class int: keys must be text, such as '1'"),
        ({None: 2}, "has the key None, of class NoneType"),
        ({"\ud800": 1}, "half a surrogate pair"),
        ({"n": b"x"}, "'n' of source_offset is b'x', of class bytes: it holds texts, .*; convert it"),
        ({"n": [1]}, "of class list"),
        ({"n": {"a": 1}}, "of class dict"),
        ({"n": datetime.date(2020, 1, 1)}, "of class date"),
        ({"n": float("nan")}, "is nan, which JSON does not have"),
        ({"n": float("-inf")}, "is -inf, which JSON does not have"),
        ({"n": "\ud800"}, "half a surrogate pair, which is not valid text"),
    ],
)
def test_what_could_not_be_read_back_is_refused(given: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        checked_map(given, "source_offset")


def test_whole_numbers_have_no_largest_one() -> None:
    """An unsigned BIGINT of a database is an offset, and comes back as it was."""
    assert checked_map({"n": 2**63 + 5}, "source_offset") == parse(canonical({"n": 2**63 + 5}))
