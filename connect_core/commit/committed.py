"""The outcome of an interval."""

from __future__ import annotations

from enum import Enum

__all__ = ["Committed"]


class Committed(Enum):
    """The outcome of an interval."""

    COMMITTED = "COMMITTED"
    ABANDONED = "ABANDONED"
    UNCLEAR = "UNCLEAR"
    """Not all results are known: the next plan fences and reads the markers."""
    FAILED = "FAILED"
