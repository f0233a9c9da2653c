"""What must hold at the end of a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from connect_core.interval.values import IntervalState
from tests.simulator.history import FILES, PARTS, History
from tests.simulator.truth import Violation

__all__ = ["check_end", "has_drained"]


def lagging(history: History) -> Iterator[str]:
    """Name the partitions that are not read to their end."""
    places: Any = FILES if history.kind == "source" else PARTS
    for place in places:
        reached, end = history.truth.position.get(place), history.available[place]
        begins = 0 if history.kind == "source" or history.is_begun else max(history.truth.first[place])
        if (reached if reached is not None else begins) < end and history.earliest.get(place, 0) < end:
            yield f"{place} is at {reached} of {end}"


def has_drained(history: History) -> bool:
    """Whether everything is read and no interval is open."""
    row = history.sql.unfinished()
    return (row is None or row.state is IntervalState.FAILED) and not any(lagging(history))


def check_end(history: History) -> None:
    """I1 to I8 and I10 in full, after all faults have ended and drivers have drained."""
    for lag in lagging(history):
        raise Violation(f"I8 {lag} after all faults have ended")
    row = history.sql.unfinished()
    if row is not None and row.state is not IntervalState.FAILED:
        raise Violation(f"I10 interval {row.key.sequence} is left unfinished")
    if history.broker.open:
        raise Violation(f"I10 a transaction is left open: {list(history.broker.open)}")
    for home in history.homes.values():
        home.check_end()
    history.truth.verify()
