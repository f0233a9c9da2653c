"""Missing numbers: if a database does not show running transactions, a late row must have one of these.

A transaction that took a number and has not committed leaves a gap. Gaps are checked again for a while; a number found
there was never read before. However long nobody checked, a gap is dropped only by a check after that while.
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
    """The numbers from ``low`` to ``high``; ``since``: when they were first missing, in milliseconds since 1970."""

    low: int
    high: int
    since: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """The watched gaps, in order."""

    gaps: tuple[Gap, ...] = ()

    @classmethod
    def from_state(cls, state: Mapping[str, str] | None) -> Gaps:
        """Return the gaps in the state stored with an offset."""
        return cls(tuple(Gap(*one) for one in json.loads((state or {}).get("gaps", "[]"))))

    def to_state(self) -> dict[str, str]:
        """Return the state to store with an offset."""
        return {"gaps": json.dumps([[one.low, one.high, one.since] for one in self.gaps], separators=(",", ":"))}

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Return the ranges, ends included."""
        return tuple((one.low, one.high) for one in self.gaps)

    def looked_at(self, looked: int, window: float) -> Gaps:
        """Return the gaps to check again after all were checked at ``looked``: those younger than ``window`` s."""
        return Gaps(tuple(one for one in self.gaps if looked - one.since <= window * 1000))

    def after(self, last: int | None, numbers: Iterable[int], now: int) -> Gaps:
        """Return the gaps after these ordered numbers after ``last`` (``None``: the first ever) were read."""
        found = list(self.gaps)
        for number in numbers:
            low = _LOWEST if last is None else last + 1
            if number > low:
                found.append(Gap(low, number - 1, now))
            last = number
        return Gaps(tuple(found))

    def newest(self) -> tuple[Gaps, tuple[Gap, ...]]:
        """Return the newest 500, and those dropped for them without another check."""
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
