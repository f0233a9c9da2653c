"""Metrics of all connectors, for a monitoring system."""

from __future__ import annotations

from dataclasses import dataclass

from connect_core.herder.context import Herder
from connect_core.herder.overview import ConnectorSummary, summarize
from connect_core.store import overviews
from connect_core.store.interval_history import IntervalMark
from connect_core.store.overviews import Totals

__all__ = ["ConnectorMetrics", "collect"]

_UNFINISHED_AND_LAST = 2


@dataclass(frozen=True, slots=True)
class ConnectorMetrics:
    """One connector's metrics; ``None`` for those without a value yet."""

    summary: ConnectorSummary
    totals: Totals

    @property
    def lag_records(self) -> int | None:
        """How many records a sink is behind."""
        return self.summary.lag

    @property
    def last_success_timestamp_seconds(self) -> float | None:
        """When the last interval was committed, in Unix time."""
        at = self.summary.last_success_at
        return None if at is None else at.timestamp()

    @property
    def last_interval_seconds(self) -> float | None:
        """How long the last finished interval took."""
        return None if self._last is None else self._last.seconds

    @property
    def last_interval_records(self) -> int | None:
        """How many records the last finished interval moved."""
        return None if self._last is None else self._last.records

    @property
    def _last(self) -> IntervalMark | None:
        finished = [mark for mark in self.summary.strip if mark.seconds is not None]
        return finished[-1] if finished else None


def collect(herder: Herder) -> dict[str, ConnectorMetrics]:
    """Return the metrics of all connectors by name: a constant number of statements, none over the history."""
    summaries = summarize(herder, _UNFINISHED_AND_LAST)
    with herder.database.read() as connection:
        totals = overviews.totals(connection)
    # One that was created or deleted between the two is in the next answer.
    return {one.name: ConnectorMetrics(one, totals[one.name]) for one in summaries if one.name in totals}
