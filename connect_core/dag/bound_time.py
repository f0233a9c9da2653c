"""The time by which a run's intervals end where ``interval.bound=data_interval_end``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["bound_time_of"]


def bound_time_of(context: Context) -> datetime | None:
    """Return the end of a run's data interval; without one the assets' time, or that of the run.

    A run that assets have triggered ends by the time all of them have reached: by the ``bound_time`` an event tells, as
    those of connectors do, or when it was sent.
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
