"""Counts the rows of each hour that the connector orders-hourly has finished; put it beside connect_dags.py.

It is started by the event of the connector's asset (``schedule.outlets``), which contains all it needs: bounds in
offsets and time, counts, and the paths of the files.
"""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
from airflow.sdk import Asset, dag, get_current_context, task

HOURS = Asset(uri="connect://orders-hourly")


@dag(schedule=[HOURS], catchup=False, max_active_runs=1, is_paused_upon_creation=False)
def hourly_counts() -> None:
    """Compare the rows in the files with the records in the events."""

    @task
    def count() -> list[dict[str, Any]]:
        """Return bound, records and rows of each event. Raises ValueError if they differ."""
        told = [event.extra for event in get_current_context()["triggering_asset_events"][HOURS]]
        found = [
            {
                "until": one["bound_time"],
                "records": one["records"],
                "late": one["late"],
                "ranges": one["ranges"],
                "rows": sum(pq.read_metadata(path).num_rows for path in one["paths"]),
            }
            for one in told
        ]
        wrong = [one for one in found if one["rows"] != one["records"]]
        if wrong:
            raise ValueError(f"The files hold other numbers of rows than records were moved: {wrong}")
        return found

    count()


hourly_counts()
