"""Asks Airflow for a backfill: its runs of a range of times, all of them again."""

from __future__ import annotations

from datetime import datetime

from connect_core.dag.airflow_tasks import Calls

__all__ = ["has_ended", "request_backfill"]


def request_backfill(api: Calls, dag_id: str, first: datetime, last: datetime) -> int:
    """Ask for the runs whose times lie from ``first`` to ``last``, both included → the backfill's id.

    A run of a connector by the hour is of the hour that ends at its time. Raises NotFoundError, ConnectError.
    """
    body = {
        "dag_id": dag_id,
        "from_date": first.isoformat(),
        "to_date": last.isoformat(),
        "max_active_runs": 1,
        "reprocess_behavior": "completed",
    }
    return int(api.call("POST", "/backfills", json=body)["id"])


def has_ended(api: Calls, backfill: int) -> bool:
    """Return whether no run of a backfill is left to be made, whatever became of them. Raises ConnectError."""
    return api.call("GET", f"/backfills/{backfill}")["completed_at"] is not None
