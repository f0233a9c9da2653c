"""The period that a backfill run of Airflow exports again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from connect_core.configs.schedules import cron_of, time_before
from connect_core.errors import ConnectError

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["backfill_since"]


def backfill_since(context: Context) -> datetime | None:
    """Return the start of a backfill run's period, whose end is that of its data interval; ``None`` for other runs.

    Airflow's data interval has no length where a cron line only triggers runs: the start is then the previous time
    of that line. Raises ConnectError for a schedule without one.
    """
    run = context["dag_run"]
    if getattr(run.run_type, "value", run.run_type) != "backfill":
        return None
    start, end = run.data_interval_start, run.data_interval_end
    if end is None:
        raise ConnectError("This backfill run has no data interval: it does not define which time to export again")
    return start if start is not None and start < end else _time_before(context["dag"].schedule, end)


def _time_before(schedule: Any, moment: datetime) -> datetime:
    if isinstance(schedule, timedelta):
        return moment - schedule
    cron = cron_of(schedule) if isinstance(schedule, str) else None
    if cron is not None:
        return time_before(cron, moment)
    raise ConnectError(f"The schedule {schedule} does not define when the data interval of this backfill run begins")
