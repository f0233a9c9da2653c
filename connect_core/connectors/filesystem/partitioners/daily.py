"""One folder per day."""

from __future__ import annotations

from connect_core.connectors.filesystem.partitioners.time_based import TimeBasedPartitioner

__all__ = ["DailyPartitioner"]


class DailyPartitioner(TimeBasedPartitioner):
    """``year=2026/month=11/day=23``. Connect: ``DailyPartitioner`` of Confluent's storage sinks."""

    path_format = "'year'=YYYY/'month'=MM/'day'=dd"
    duration = 86_400_000
