"""What intervals tell of all lives of a connector, I4 to I6: a deleted one leaves its own to the next of its name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from connect_core.interval.values import IntervalState
from connect_core.store.interval_history import PastInterval

__all__ = ["interval_violations"]

_DELETED = "the connector was deleted"


def interval_violations(intervals: Sequence[PastInterval], written: int) -> Iterator[str]:
    """Yield what is wrong with the intervals, the oldest first, of a connector that had ``written`` records to move."""
    committed = [one for one in intervals if one.row.state is IntervalState.COMMITTED]
    moved = sum(one.counts.records - one.counts.skipped for one in committed)
    # What a deleted source's run had committed in its topic, its row does not tell: its offsets do.
    is_untold = any(one.row.state is IntervalState.ABANDONED and one.reason == _DELETED for one in intervals)
    if moved > written or (moved < written and not is_untold):
        lives = len({one.row.key.incarnation for one in intervals})
        yield f"I6: intervals of {lives} lives count {moved} records, {written} were written"
    for before, after in itertools.pairwise(committed):
        ends = {part.topic_partition: part.end for part in before.row.ranges}
        starts = {part.topic_partition: part.start for part in after.row.ranges}
        if any(starts[part] != end for part, end in ends.items() if part in starts):
            yield f"I4: interval {after.row.key.sequence} does not begin where the last ended"
    for earlier, later in itertools.pairwise(one.row.key for one in intervals):
        if later.incarnation < earlier.incarnation or later.epoch < earlier.epoch:
            yield f"I5: epoch or incarnation of interval {later.sequence} is lower than that before it"
