"""Python's garbage collection while connectors run: less often, and without the imported modules."""

from __future__ import annotations

import gc

__all__ = ["collect_garbage_less_often"]

_THRESHOLDS = (50_000, 50, 100)
"""The thresholds of its three generations (``gc.set_threshold``)."""


def collect_garbage_less_often() -> None:
    """Run garbage collection less often from now on.

    Records contain no reference cycles, and scanning them takes longer than creating them; a plan creates few cycles,
    and scanning all modules takes half as long as the plan.
    """
    if gc.get_threshold() != _THRESHOLDS:
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
