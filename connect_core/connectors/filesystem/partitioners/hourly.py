"""One folder per hour."""

from __future__ import annotations

from connect_core.connectors.filesystem.partitioners.time_based import TimeBasedPartitioner

__all__ = ["HourlyPartitioner"]


class HourlyPartitioner(TimeBasedPartitioner):
    """``year=2026/month=11/day=23/hour=18``. Connect: ``HourlyPartitioner`` of Confluent's storage sinks."""

    path_format = "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH"
    duration = 3_600_000
