"""A record's headers as the bytes of a record batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.kafka.record_headers import parse_headers

Headers = st.lists(st.tuples(st.text(max_size=200), st.one_of(st.none(), st.binary(max_size=300))), max_size=5)


def varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    parts = bytearray()
    while zigzag > 0x7F:
        parts.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*parts, zigzag])


def written(headers: list[tuple[str, bytes | None]]) -> bytes:
    parts = [varint(len(headers))]
    for name, value in headers:
        parts += [varint(len(name.encode())), name.encode()]
        parts += [varint(-1)] if value is None else [varint(len(value)), value]
    return b"".join(parts)


@given(Headers)
def test_headers_are_those_written(headers: list[tuple[str, bytes | None]]) -> None:
    assert parse_headers(written(headers)) == headers


def test_truncated_headers_are_an_error() -> None:
    with pytest.raises(IndexError):
        parse_headers(written([("a", b"1")])[:2])
