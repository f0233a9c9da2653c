"""Columns of instants formatted and parsed by a pattern, once per distinct text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.java.dates.format import SimpleDateFormat
from connect_core.java.instant import Instant

__all__ = ["floor_divide", "format_column", "parse_column"]

_UNITS = (("S", 1), ("s", 1000), ("m", 60_000), ("HkKha", 3_600_000))
_DAY = 86_400_000


def format_column(millis: pa.Int64Array, form: SimpleDateFormat) -> pa.StringArray:
    """Return milliseconds since 1970 as text; nulls stay null.

    Instants that differ only in parts that the pattern does not show are formatted once.
    """
    unit = next((unit for letters, unit in _UNITS if any(letter in form.pattern for letter in letters)), _DAY)
    steps = floor_divide(millis, unit).dictionary_encode()
    texts = [None if step is None else form.format(Instant(step * unit)) for step in steps.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(steps.indices)


def parse_column(texts: pa.StringArray, form: SimpleDateFormat) -> pa.Int64Array | None:
    """Return texts as milliseconds since 1970, ``None`` if one does not match the pattern."""
    known = texts.dictionary_encode()
    words = known.dictionary.to_pylist()
    parsed = [None if word is None else form.parse(word) for word in words]
    if parsed.count(None) > words.count(None):
        return None
    millis = [None if instant is None else instant.epoch_millis for instant in parsed]
    return pa.array(millis, pa.int64()).take(known.indices)


def floor_divide(millis: pa.Int64Array, unit: int) -> pa.Int64Array:
    """Return the number of whole units since 1970, rounded toward the past."""
    quotient = pc.divide(millis, unit)
    below = pc.less(pc.subtract(millis, pc.multiply(quotient, unit)), 0)
    return pc.subtract(quotient, below.cast(pa.int64()))
