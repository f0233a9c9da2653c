"""Numbers left out: where a database tells nothing of running transactions, a late row must be one of these.

A transaction that took a number and has not committed leaves a gap. Gaps are
looked at again for a while; a number found there was never read before. However
long nobody looked, a gap is let go only by a look at it after that while.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

__all__ = ["Gap", "Gaps"]

_MOST = 500

_LOWEST = -(2**63)
"""Below any number: before the first row that is read there is a gap as well."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The numbers from ``low`` to ``high``; ``since``: seen missing at, in milliseconds since 1970."""

    low: int
    high: int
    since: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps that are watched, in order."""

    gaps: tuple[Gap, ...] = ()

    @classmethod
    def from_state(cls, state: Mapping[str, str] | None) -> Gaps:
        """Return what was kept with an offset."""
        return cls(tuple(Gap(*one) for one in json.loads((state or {}).get("gaps", "[]"))))

    def to_state(self) -> dict[str, str]:
        """Return what to keep with an offset."""
        return {"gaps": json.dumps([[one.low, one.high, one.since] for one in self.gaps], separators=(",", ":"))}

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Return the ranges, ends included."""
        return tuple((one.low, one.high) for one in self.gaps)

    def looked_at(self, looked: int, window: float) -> Gaps:
        """Return those to look at once more, after a look at all of them at a time: seen within so many seconds."""
        return Gaps(tuple(one for one in self.gaps if looked - one.since <= window * 1000))

    def after(self, last: int | None, numbers: Iterable[int], now: int) -> Gaps:
        """Return the gaps after numbers behind ``last`` (``None``: the first ever) were read, in order."""
        found = list(self.gaps)
        for number in numbers:
            low = _LOWEST if last is None else last + 1
            if number > low:
                found.append(Gap(low, number - 1, now))
            last = number
        return Gaps(tuple(found))

    def newest(self) -> tuple[Gaps, tuple[Gap, ...]]:
        """Return the newest 500, and those that are given up for them without another look."""
        return Gaps(self.gaps[-_MOST:]), self.gaps[:-_MOST]

    def filled(self, numbers: Iterable[int]) -> Gaps:
        """Return the gaps once these numbers have been read."""
        gaps = list(self.gaps)
        for number in numbers:
            gaps = [part for gap in gaps for part in _cut(gap, number)]
        return Gaps(tuple(gaps))


def _cut(gap: Gap, number: int) -> list[Gap]:
    if not gap.low <= number <= gap.high:
        return [gap]
    parts = (replace(gap, high=number - 1), replace(gap, low=number + 1))
    return [part for part in parts if part.low <= part.high]
