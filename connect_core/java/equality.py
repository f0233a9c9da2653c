"""Whether two values are equal, by Java's rules rather than Python's.

NaN equals itself, 0.0 and -0.0 differ, decimals are compared with their scale, and
an Int32 differs from an Int64; a plain int or float equals any width of the same number.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from connect_core.java.numbers import Float32, Float64

__all__ = ["KeyList", "KeyMap", "as_key", "hash_value", "same_value"]


def same_value(one: Any, other: Any) -> bool:
    """Return whether two values are equal by the rules of Connect's values."""
    if one is other:
        return True
    kind, other_kind = type(one), type(other)
    if kind is not other_kind and not _same_kind(kind, other_kind):
        return False
    compare = _COMPARE.get(kind)
    return bool(one == other) if compare is None else compare(one, other)


def hash_value(value: Any) -> int:
    """Return a hash that is consistent with ``same_value``."""
    if isinstance(value, float) and math.isnan(value):
        return 0
    if isinstance(value, list):
        return hash(tuple(map(hash_value, value)))
    if isinstance(value, dict):
        return hash(frozenset((hash_value(key), hash_value(item)) for key, item in value.items()))
    return hash(value.tobytes()) if isinstance(value, memoryview) else hash(value)


class KeyList(list[Any]):
    """A list that can be a map's key; never change it."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash_value(self)


class KeyMap(dict[Any, Any]):
    """A map that can be a map's key; never change it."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash_value(self)


def as_key(value: Any) -> Any:
    """Return a value that can be a map's key: lists and maps are made hashable."""
    if isinstance(value, list):
        return KeyList(value)
    return KeyMap(value) if isinstance(value, dict) else value


def _same_kind(one: type, other: type) -> bool:
    if one is bool or other is bool:
        return False
    plain = _PLAIN.get(one) or _PLAIN.get(other)
    return plain is not None and issubclass(one, plain) and issubclass(other, plain)


def _same_list(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(same_value, one, other))


def _same_dict(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    if len(one) != len(other):
        return False
    return all(key in other and same_value(value, other[key]) for key, value in one.items())


def _same_decimal(one: decimal.Decimal, other: decimal.Decimal) -> bool:
    return one == other and one.as_tuple().exponent == other.as_tuple().exponent


def _same_float(one: float, other: float) -> bool:
    if one == other:
        return math.copysign(1, one) == math.copysign(1, other)
    return math.isnan(one) and math.isnan(other)


_PLAIN: dict[type, tuple[type, ...]] = {int: (int,), float: (float,), memoryview: (bytes, memoryview)}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    list: _same_list,
    dict: _same_dict,
    decimal.Decimal: _same_decimal,
    float: _same_float,
    Float32: _same_float,
    Float64: _same_float,
}
