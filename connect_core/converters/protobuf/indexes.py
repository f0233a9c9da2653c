"""Message indexes: the message type of a body, as its path through the schema's messages."""

from __future__ import annotations

from connect_core.errors import DataError

__all__ = ["FIRST_MESSAGE", "read_indexes", "varint", "write_indexes"]

FIRST_MESSAGE = (0,)
_MOST = 100
"""Levels of nesting that every compiler accepts."""


def read_indexes(body: bytes) -> tuple[tuple[int, ...], int]:
    """Return the indexes at the start of a body, and their end. Raise DataError for bad ones."""
    if body[:1] == b"\0":
        return FIRST_MESSAGE, 1
    count, at = _read_varint(body, 0)
    if not 0 < count <= _MOST:
        raise DataError(f"A Protobuf message has {count} message indexes")
    indexes = []
    for _ in range(count):
        index, at = _read_varint(body, at)
        if index < 0:
            raise DataError(f"A Protobuf message has the message index {index}")
        indexes.append(index)
    return tuple(indexes), at


def write_indexes(indexes: tuple[int, ...]) -> bytes:
    """Return indexes as bytes."""
    if indexes == FIRST_MESSAGE:
        return b"\0"
    return b"".join(varint(number << 1) for number in (len(indexes), *indexes))


def varint(number: int) -> bytes:
    """Return a non-negative number as a varint."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _read_varint(body: bytes, at: int) -> tuple[int, int]:
    number = 0
    for place, byte in enumerate(body[at : at + 5]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at + place + 1
    raise DataError("A Protobuf message ends within its message indexes")
