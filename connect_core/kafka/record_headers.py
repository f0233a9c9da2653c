"""The headers of one record, as encoded in a record batch."""

from __future__ import annotations

from connect_core.kafka.raw_batch import RawHeaders

__all__ = ["parse_headers"]


def parse_headers(data: bytes) -> RawHeaders:
    """Parse a count, then a name and a value each; lengths are zigzag varints, -1 is a null value.

    Raise IndexError if the data is truncated. Source: KIP-82, Kafka's record format v2.
    """
    count, at = _varint(data, 0)
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        size, at = _varint(data, at)
        name, at = data[at : at + size].decode(errors="replace"), at + size
        size, at = _varint(data, at)
        headers.append((name, None if size < 0 else data[at : at + size]))
        at += max(size, 0)
    return headers


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position after it."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
