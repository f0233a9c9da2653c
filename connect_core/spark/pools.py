"""Spark's scheduler pools: the jobs of connectors share the slots, whichever came first."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FAIR_POOL"]

FAIR_POOL = Path(__file__).with_name("fairscheduler.xml")
"""For ``spark.scheduler.allocation.file``.

Without it, all jobs are in a pool that is first in, first out, whatever ``spark.scheduler.mode`` is.
"""
