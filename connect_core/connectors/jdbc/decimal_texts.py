"""Decimals written as text, in the columns of both source and sink."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["decimals_of"]

_MOST_DIGITS = 76


def decimals_of(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts as decimals of type ``kind``. Raises ArrowInvalid for values that it cannot hold.

    Arrow's own cast overflows silently if a text has more digits than its type; via the widest type, and with no text
    longer than that, each overflow is detected.
    """
    texts = texts.cast(pa.string())
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest > _MOST_DIGITS:
        raise pa.ArrowInvalid(f"a number of {longest} characters does not fit {kind}")
    return texts.cast(pa.decimal256(_MOST_DIGITS, kind.scale)).cast(kind)
