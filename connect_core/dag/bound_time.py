"""The upper time bound of a run's intervals with ``interval.bound=data_interval_end``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["bound_time_of"]


def bound_time_of(context: Context) -> datetime | None:
    """Return the end of a run's data interval; without one, the time the assets have reached, or that of the run.

    A run triggered by assets ends at the time that all of them have reached: each by the ``bound_time`` of its events,
    which those of connectors have, or by when they were sent.
    """
    run = context["dag_run"]
    if run.data_interval_end is not None:
        return run.data_interval_end
    events: Mapping[Any, Any] = context.get("triggering_asset_events") or {}
    reached = [max(map(_time_of, sent)) for sent in events.values() if sent]
    return min(reached, default=run.run_after)


def _time_of(event: Any) -> datetime:
    told = (event.extra or {}).get("bound_time")
    sent: datetime = event.timestamp
    try:
        moment = datetime.fromisoformat(str(told))
    except ValueError:
        return sent
    return sent if moment.tzinfo is None else moment
