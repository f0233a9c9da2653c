"""State of Airflow's tasks and of its own components: one call for all connectors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import quote

__all__ = ["Calls", "OpenTask", "clear_task", "last_heartbeats", "open_tasks"]

_PAGE = 500
_ORDER = "id"
"""By creation, or the last clear: the id is a version 7 UUID. Airflow 3.3.2 refuses to order by ``run_after``."""
_OPEN = ("queued", "scheduled", "running", "deferred", "restarting", "up_for_retry", "up_for_reschedule", None)
_PARTS = ("scheduler", "triggerer", "dag_processor")


class Calls(Protocol):
    """Calls Airflow's REST API: ``AirflowApi``. Raises ConnectError."""

    def call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        """Return the JSON of Airflow's response."""


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that has not ended; ``state`` is ``none`` before it may start, ``since`` is when it entered it."""

    dag_id: str
    run_id: str
    task_id: str
    state: str
    since: datetime | None
    pool: str


def open_tasks(api: Calls, dag_ids: Collection[str]) -> Iterator[OpenTask]:
    """Yield the tasks of these DAGs that have not ended, the oldest first. Raises ConnectError."""
    offset, total = 0, 1 if dag_ids else 0
    while offset < total:
        body = {"dag_ids": sorted(dag_ids), "state": list(_OPEN), "page_limit": _PAGE, "page_offset": offset}
        page = api.call("POST", "/dags/~/dagRuns/~/taskInstances/list", json={**body, "order_by": _ORDER})
        found = page["task_instances"]
        yield from map(_open_task, found)
        offset, total = offset + len(found), page["total_entries"] if found else 0


def clear_task(api: Calls, task: OpenTask) -> None:
    """Clear one task of one run, so that it is scheduled again; the rest of the run stays. Raises ConnectError."""
    body = {
        "dry_run": False,
        "only_failed": False,
        "dag_run_id": task.run_id,
        "task_ids": [task.task_id],
        "reset_dag_runs": False,
    }
    api.call("POST", f"/dags/{quote(task.dag_id, safe='')}/clearTaskInstances", json=body)


def last_heartbeats(api: Calls) -> dict[str, datetime | None]:
    """Return the last heartbeat of scheduler, triggerer and DAG processor; ``None`` for one never seen."""
    told: Mapping[str, Mapping[str, str | None] | None] = api.call("GET", "/monitor/health")
    return {part: _moment((told.get(part) or {}).get(f"latest_{part}_heartbeat")) for part in _PARTS}


def _open_task(found: Mapping[str, Any]) -> OpenTask:
    state = found["state"] or "none"
    since = {
        "queued": found["queued_when"],
        "scheduled": found["scheduled_when"],
        "running": found["start_date"],
    }.get(state)
    return OpenTask(
        found["dag_id"], found["dag_run_id"], found["task_id"], state, _moment(since), found.get("pool") or ""
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
