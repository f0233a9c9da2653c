"""Single values in Avro's binary form; a writer appends a value to a buffer."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Writer", "write_boolean", "write_bytes", "write_double", "write_float", "write_long", "write_string"]

Writer: TypeAlias = Callable[[bytearray, Any], None]

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_NAN = _DOUBLE.pack(float("nan"))
_FLOAT_NAN = _FLOAT.pack(float("nan"))


def write_long(out: bytearray, value: int) -> None:
    """Append a number of 64 bits or less."""
    number = (value << 1) ^ (value >> 63)
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def write_boolean(out: bytearray, value: bool) -> None:
    """Append a boolean."""
    out.append(1 if value else 0)


def write_double(out: bytearray, value: float) -> None:
    """Append a binary64 number; every NaN has the same bit pattern."""
    out += _DOUBLE.pack(value) if value == value else _NAN


def write_float(out: bytearray, value: float) -> None:
    """Append a binary32 number."""
    out += _FLOAT.pack(value) if value == value else _FLOAT_NAN


def write_bytes(out: bytearray, value: bytes | memoryview) -> None:
    """Append the length and the bytes."""
    write_long(out, len(value))
    out += value


def write_string(out: bytearray, value: str) -> None:
    """Append text; an unpaired surrogate becomes ?, as in Java."""
    content = value.encode("utf-8", "replace")
    write_long(out, len(content))
    out += content
