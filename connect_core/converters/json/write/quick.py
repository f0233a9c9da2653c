"""Schemaless data to JSON by a strict writer, for values that it writes as Jackson does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

__all__ = ["quick_json"]

_SAME = frozenset((str, bool, type(None)))
_HEX_ESCAPE = b"\\u00"
_BEYOND_BASIC_PLANE = tuple(bytes((lead,)) for lead in range(0xF0, 0xF5))


def quick_json(value: Any) -> bytes | None:
    """Return a map or list as JSON, ``None`` if it has floats, escapes or classes that may be written differently."""
    kind = type(value)
    simple = _are_simple(value.values()) if kind is dict else kind is list and _are_simple(value)
    if not simple:
        return None
    try:
        text = orjson.dumps(value)
    except TypeError:
        return None
    if _HEX_ESCAPE in text or not (text.isascii() or not any(lead in text for lead in _BEYOND_BASIC_PLANE)):
        return None
    return text


def _are_simple(values: Iterable[Any]) -> bool:
    for value in values:
        kind = type(value)
        if kind in _SAME:
            continue
        if kind is int:
            simple = -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF
        elif kind is float:
            simple = 1e-3 <= value < 1e7 or -1e7 < value <= -1e-3
        elif kind is dict:
            simple = _are_simple(value.values())
        else:
            simple = kind is list and _are_simple(value)
        if not simple:
            return False
    return True
