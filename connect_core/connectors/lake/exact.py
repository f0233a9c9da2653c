"""Arrow's casts, except those that change a value without an error."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["exactly"]


def exactly(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return values in another type. Raises ArrowInvalid for one that the type does not have.

    Fractions are what their shortest digits say. A double becomes the nearest float, unless that is infinite.
    """
    found = array.cast(target)
    if not _is_kept(array, found):
        raise pa.ArrowInvalid(f"a value of the type {array.type} is not kept by {target}")
    return found


def _is_kept(array: pa.Array, found: pa.Array) -> bool:
    types = pa.types
    given, target = array.type, found.type
    if types.is_timestamp(given) and types.is_date(target):
        return bool(found.cast(given).equals(array))
    if types.is_float64(given) and types.is_float32(target):
        is_lost = pc.and_(pc.is_inf(found), pc.is_finite(array))
        return not pc.any(is_lost).as_py()
    if types.is_floating(given) and types.is_decimal(target):
        return _are_same(array, found)
    if types.is_decimal(given) and types.is_floating(target):
        return _are_same(found, array)
    return True


def _are_same(fractions: pa.Array, decimals: pa.Array) -> bool:
    valid = fractions.is_valid()
    digits = (str(one) for one in fractions.filter(valid).to_numpy())
    return all(Decimal(one) == other for one, other in zip(digits, decimals.filter(valid).to_pylist(), strict=True))
