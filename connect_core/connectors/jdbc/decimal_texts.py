"""Decimals written as text, in both directions' columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["decimals_of"]

_MOST_DIGITS = 76


def decimals_of(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts as decimals of type ``kind``. Raises ArrowInvalid for what it cannot hold.

    Arrow's own cast lets digits run over where a text has more than its type; going
    by the widest type, with no text longer than that, each overflow is noticed.
    """
    texts = texts.cast(pa.string())
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest > _MOST_DIGITS:
        raise pa.ArrowInvalid(f"a number of {longest} characters has no room in {kind}")
    return texts.cast(pa.decimal256(_MOST_DIGITS, kind.scale)).cast(kind)
