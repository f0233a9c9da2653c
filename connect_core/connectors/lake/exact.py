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
    types = pa.types
    if types.is_floating(array.type) and types.is_decimal(target):
        # Arrow itself would make 0.1 a 0.100000000000000006.
        return pa.array(_digits(array), target)
    decimals = types.is_decimal(array.type) and types.is_floating(target)
    found = _nearest(array, target) if decimals else array.cast(target)
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
    if types.is_decimal(given) and types.is_floating(target):
        return bool(_digits(found) == array.to_pylist())
    return True


def _nearest(decimals: pa.Array, target: pa.DataType) -> pa.Array:
    """Return the nearest fractions; Arrow's own cast is at times the one beside it."""
    return pa.array([None if one is None else float(one) for one in decimals.to_pylist()], pa.float64()).cast(target)


def _digits(fractions: pa.Array) -> list[Decimal | None]:
    # Without nulls, as with them NumPy has doubles for floats.
    values = fractions.fill_null(0).to_numpy()
    is_there = fractions.is_valid().to_pylist()
    return [Decimal(str(one)) if there else None for one, there in zip(values, is_there, strict=True)]
