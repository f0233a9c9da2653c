"""Numbers of whole columns are those of single values."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from connect_core.converters.avro.read.bodies import Bodies, Unreadable
from connect_core.converters.avro.read.scalars import read_long
from connect_core.converters.avro.write.pieces import constant, expand, join, numbers, regroup
from connect_core.converters.avro.write.scalars import write_long

EDGES = [sign * (1 << bits) + step for bits in range(63) for step in (-1, 0, 1) for sign in (1, -1)]
EDGES += [(1 << 63) - 1, -(1 << 63)]


def single(value: int) -> bytes:
    out = bytearray()
    write_long(out, value)
    return bytes(out)


@pytest.mark.parametrize(
    "values", [EDGES, [0, 1, -64, 63], [64], [-65, 0], []], ids=["edges", "small", "64", "-65", "none"]
)
def test_numbers_are_written_and_read(values: list[int]) -> None:
    written = [single(value) for value in values]
    assert [read_long(one, 0) for one in written] == [
        (value, len(one)) for value, one in zip(values, written, strict=True)
    ]
    assert numbers(np.array(values, np.int64)).to_pylist() == written
    ends = np.cumsum([len(one) for one in written], dtype=np.int64)
    starts = np.concatenate(([0], ends[:-1])).astype(np.int64) if values else np.zeros(0, np.int64)
    found, reached = Bodies(np.frombuffer(b"".join(written), np.uint8)).longs(starts)
    assert (found.tolist(), reached.tolist()) == (values, ends.tolist())


def test_numbers_in_more_bytes_than_needed_are_read() -> None:
    source = random.Random(1)
    for _ in range(500):
        size = source.randrange(1, 11)
        body = bytes(source.randrange(128, 256) for _ in range(size - 1)) + bytes(
            [source.randrange(2 if size == 10 else 128)]
        )
        found, reached = Bodies(np.frombuffer(body, np.uint8)).longs(np.zeros(1, np.int64))
        assert (found[0], reached[0]) == read_long(body, 0)


@pytest.mark.parametrize("body", [b"\xff" * 10 + b"\0", b"\xff" * 9 + b"\2", b"\xff" * 20])
def test_number_too_long_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable, match="more than 64 bits"):
        Bodies(np.frombuffer(body, np.uint8)).longs(np.zeros(1, np.int64))


def test_pieces_are_spread_and_grouped() -> None:
    items = pa.array([b"a", b"bc", b"", b"def"])
    given = np.array([True, False, True, True, False, True])
    assert expand(items, given).to_pylist() == [b"a", b"", b"bc", b"", b"", b"def"]
    assert expand(items.slice(1, 2), np.array([False, True, True])).to_pylist() == [b"", b"bc", b""]
    assert expand(constant(b"xy"), given).to_pylist() == [b"xy", b"", b"xy", b"xy", b"", b"xy"]
    assert regroup(items, np.array([2, 0, 2])).to_pylist() == [b"abc", b"", b"def"]
    assert join([constant(b"x"), items, constant(b"y")], 4).to_pylist() == [b"xay", b"xbcy", b"xy", b"xdefy"]
    assert join([constant(b"x"), constant(b"y")], 2).to_pylist() == [b"xy", b"xy"]
    many = [constant(bytes([65 + place % 26])) if place % 3 else items for place in range(1000)]
    expected = [
        b"".join(one.as_py() if place % 3 else items[row].as_py() for place, one in enumerate(many)) for row in range(4)
    ]
    assert join(many, 4).to_pylist() == expected
