"""Columns of instants formatted and parsed by a pattern, without Python code per row for the usual patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.java.dates.calendar import gregorian_day
from connect_core.java.dates.format import SimpleDateFormat, text_of
from connect_core.java.dates.pattern import Letters
from connect_core.java.dates.scanning import LATEST_YEAR, OLDEST_YEAR, is_plain
from connect_core.java.instant import MILLIS_PER_DAY, Instant

__all__ = ["floor_divide", "format_column", "parse_column"]

_CYCLES = {
    "S": (1, 1000),
    "s": (1000, 60),
    "m": (60_000, 60),
    **dict.fromkeys("HkKha", (3_600_000, 24)),
}
"""Letter → the milliseconds of its unit, and after how many of them its text repeats; others change with the day."""
_MOST_DIGITS = {"y": 4, "M": 2, "d": 2}
_UNITS = {"H": 3_600_000, "m": 60_000, "s": 1000, "S": 1}


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of a pattern whose text depends on ``millis // unit``, modulo ``cycle`` if there is one."""

    parts: tuple[Letters | str, ...]
    unit: int
    cycle: int | None

    def texts(self, millis: npt.NDArray[np.int64]) -> pa.StringArray:
        """Return the segment's text of each row, formatted once per distinct value."""
        steps = millis // self.unit
        if self.cycle is not None:
            return _cycle_texts(self).take(pa.array(steps % self.cycle))
        known = pa.array(steps).dictionary_encode()
        return self.format(known.dictionary.to_pylist()).take(known.indices)

    def format(self, steps: Iterable[int]) -> pa.StringArray:
        """Return the text of each of these multiples of the unit."""
        return pa.array([text_of(self.parts, Instant(step * self.unit)) for step in steps], pa.string())


@lru_cache(maxsize=256)
def _cycle_texts(segment: _Segment) -> pa.StringArray:
    return segment.format(range(segment.cycle or 0))


def format_column(millis: pa.Int64Array, form: SimpleDateFormat) -> pa.StringArray:
    """Return milliseconds since 1970 as text; nulls stay null."""
    known = millis.fill_null(0).to_numpy()
    pieces = [segment.texts(known) for segment in _segments(form.parts)]
    texts = pieces[0] if len(pieces) == 1 else pc.binary_join_element_wise(*pieces, "")
    return pc.if_else(millis.is_valid(), texts, None) if millis.null_count else texts


def _segments(parts: Sequence[Letters | str]) -> Iterator[_Segment]:
    """Split a pattern where the unit changes; literal text stays with the letters before it."""
    taken: list[Letters | str] = []
    current: tuple[int, int | None] | None = None
    for part in parts:
        cycle = current if isinstance(part, str) else _CYCLES.get(part.letter, (MILLIS_PER_DAY, None))
        if current not in (None, cycle):
            yield _Segment(tuple(taken), *current)
            taken = []
        current = cycle
        taken.append(part)
    yield _Segment(tuple(taken), *(current or (MILLIS_PER_DAY, None)))


def parse_column(texts: pa.StringArray, form: SimpleDateFormat) -> pa.Int64Array | None:
    """Return texts as milliseconds since 1970, ``None`` if one does not match the pattern."""
    shape = _shape(form.parts)
    if shape is not None:
        millis = _parse_digits(texts, shape)
        if millis is not None:
            return millis
    known = texts.dictionary_encode()
    words = known.dictionary.to_pylist()
    parsed = [None if word is None else form.parse(word) for word in words]
    if parsed.count(None) > words.count(None):
        return None
    found = [None if instant is None else instant.epoch_millis for instant in parsed]
    return pa.array(found, pa.int64()).take(known.indices)


def _shape(parts: Sequence[Letters | str]) -> str | None:
    """Return a regex (RE2) for whole texts in digits with a group per letter, ``None`` for other patterns."""
    if not is_plain(parts):
        return None
    shape = ""
    for place, part in enumerate(parts):
        if isinstance(part, str):
            # A digit or exponent after a number would belong to it.
            if place and re.match(r"[\dE]", part):
                return None
            shape += re.escape(part)
            continue
        most = _MOST_DIGITS.get(part.letter, 9)
        digits = f"{{{part.count}}}" if part.exact else f"{{1,{most}}}"
        if part.exact and part.count > most:
            return None
        shape += f"(?P<{part.letter}>[0-9]{digits})"
    return f"^{shape}$"


def _parse_digits(texts: pa.StringArray, shape: str) -> pa.Int64Array | None:
    found = pc.extract_regex(texts, shape)
    if found.null_count > texts.null_count:
        return None
    numbers = {field.name: column.cast(pa.int64()) for field, column in zip(found.type, found.flatten(), strict=True)}
    years = pc.min_max(numbers["y"]).as_py()
    if years["min"] is not None and not OLDEST_YEAR <= years["min"] <= years["max"] <= LATEST_YEAR:
        return None
    millis = _days(numbers)
    for letter, unit in _UNITS.items():
        if letter in numbers:
            millis = pc.add(millis, pc.multiply(numbers[letter], unit))
    return millis


def _days(numbers: dict[str, pa.Int64Array]) -> pa.Int64Array:
    """Return the milliseconds at which each row's day begins, computed once per distinct date."""
    month, day = numbers.get("M", pa.scalar(1)), numbers.get("d", pa.scalar(1))
    key = pc.add(pc.add(pc.multiply(numbers["y"], 10_000), pc.multiply(month, 100)), day)
    known = key.dictionary_encode()
    begins = [
        None if date is None else gregorian_day(date // 10_000, date // 100 % 100, date % 100) * MILLIS_PER_DAY
        for date in known.dictionary.to_pylist()
    ]
    return pa.array(begins, pa.int64()).take(known.indices)


def floor_divide(millis: pa.Int64Array, unit: int) -> pa.Int64Array:
    """Return the number of whole units since 1970, rounded toward the past."""
    quotient = pc.divide(millis, unit)
    below = pc.less(pc.subtract(millis, pc.multiply(quotient, unit)), 0)
    return pc.subtract(quotient, below.cast(pa.int64()))
