"""Single values of Avro's binary form.

A reader takes bytes and a position and returns the value and the position after
it. Truncated input raises IndexError, struct.error or DataError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from connect_core.api.data import Float32
from connect_core.errors import DataError

__all__ = [
    "Reader",
    "read_boolean",
    "read_bytes",
    "read_double",
    "read_float",
    "read_int",
    "read_long",
    "read_string",
    "reader_of_enum",
    "reader_of_fixed",
]

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_LONGEST = 63
_INT = 1 << 31


def read_long(body: bytes, at: int) -> tuple[int, int]:
    """Read a number of 64 bits."""
    byte = body[at]
    at += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at
    number, shift = byte & 0x7F, 7
    while True:
        byte = body[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > _LONGEST:
            raise DataError("Invalid long encoding: more than 10 bytes")
    if number >> 64:
        raise DataError("Invalid long encoding: more than 64 bits")
    return (number >> 1) ^ -(number & 1), at


def read_int(body: bytes, at: int) -> tuple[int, int]:
    """Read a number of 32 bits."""
    number, at = read_long(body, at)
    if not -_INT <= number < _INT:
        raise DataError(f"Invalid int encoding: {number} is out of range")
    return number, at


def read_boolean(body: bytes, at: int) -> tuple[bool, int]:
    """Read a boolean; any byte other than 1 is false."""
    return body[at] == 1, at + 1


def read_double(body: bytes, at: int) -> tuple[float, int]:
    """Read a binary64 number."""
    number: float = _DOUBLE.unpack_from(body, at)[0]
    return number, at + 8


def read_float(body: bytes, at: int) -> tuple[float, int]:
    """Read a binary32 number."""
    return Float32(_FLOAT.unpack_from(body, at)[0]), at + 4


def read_bytes(body: bytes, at: int) -> tuple[bytes, int]:
    """Read bytes that follow their length."""
    size, at = read_long(body, at)
    end = at + size
    if size < 0 or end > len(body):
        raise DataError(f"a length of {size} bytes where {len(body) - at} are left")
    return body[at:end], end


def read_string(body: bytes, at: int) -> tuple[str, int]:
    """Read text; malformed bytes become U+FFFD, as in Java."""
    size, at = read_long(body, at)
    end = at + size
    if size < 0 or end > len(body):
        raise DataError(f"a length of {size} bytes where {len(body) - at} are left")
    return body[at:end].decode("utf-8", "replace"), end


def reader_of_fixed(size: int) -> Reader:
    """Return a reader of that many bytes."""

    def read(body: bytes, at: int) -> tuple[bytes, int]:
        end = at + size
        if end > len(body):
            raise DataError(f"{size} fixed bytes where {len(body) - at} are left")
        return body[at:end], end

    return read


def reader_of_enum(symbols: tuple[str, ...]) -> Reader:
    """Return a reader of one of the symbols."""

    def read(body: bytes, at: int) -> tuple[str, int]:
        place, at = read_long(body, at)
        if not 0 <= place < len(symbols):
            raise DataError(f"symbol {place} of an enum of {len(symbols)}")
        return symbols[place], at

    return read
