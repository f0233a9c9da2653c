"""The part of Airflow's REST API that connect-core needs; calls block.

What is needed of many connectors is fetched in one paged call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from connect_core.dag.airflow_client import AirflowClient
from connect_core.dag.naming import TAG
from connect_core.errors import BadRequestError, IllegalWorkerStateError, NotFoundError

__all__ = ["AirflowApi", "DagFile", "DagRun", "RunFilter"]

_PAGE = 1000
"""Airflow returns fewer where its ``[api] maximum_page_limit`` is lower: 100 by default."""
_RUNS_PAGE = 500
_REFUSALS = (httpx.codes.BAD_REQUEST, httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY)
_IDS_IN_ADDRESS = 50
"""DAG ids have up to 73 letters, and proxies refuse URLs longer than 8 KiB."""


@dataclass(frozen=True, slots=True)
class DagRun:
    """One run of a DAG, as reported by Airflow."""

    dag_id: str
    run_id: str
    run_type: str
    state: str
    seconds_since_end: float | None


@dataclass(frozen=True, slots=True)
class DagFile:
    """The file of a DAG: the token that requests its parsing, and when it was last parsed."""

    token: str
    parsed_at: str


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Selects runs: of these DAGs, in these states; the last ended first if ``ended_after`` is given."""

    dag_ids: Sequence[str]
    states: Sequence[str]
    ended_after: datetime | None = None

    def body(self) -> dict[str, Any]:
        """Return the body of the request."""
        body: dict[str, Any] = {"dag_ids": list(self.dag_ids), "states": list(self.states)}
        if self.ended_after is not None:
            body |= {"end_date_gte": self.ended_after.isoformat(), "order_by": "-end_date"}
        return body


class AirflowApi(AirflowClient):
    """The calls that connect-core makes to Airflow."""

    def paused_dags(self) -> frozenset[str]:
        """Return the ids of the connectors' DAGs that are paused."""
        return frozenset(dag["dag_id"] for dag in self._dags({"tags": [TAG], "paused": True}))

    def known_dags(self, dag_ids: Collection[str], *, also_stale: bool = False) -> frozenset[str]:
        """Return the DAGs that Airflow has; ``also_stale``: including those gone from their file, but not deleted."""
        found: set[str] = set()
        for some in _batches(dag_ids):
            query = {"tags": [TAG], "dag_id_pattern": "|".join(some), "exclude_stale": not also_stale}
            found |= {dag["dag_id"] for dag in self._dags(query)}
        return frozenset(found & set(dag_ids))

    def runs(self, wanted: RunFilter) -> Iterator[DagRun]:
        """Yield runs, of any number of DAGs; each page is requested when it is reached."""
        offset = 0
        while wanted.dag_ids:
            body = {**wanted.body(), "page_limit": _RUNS_PAGE, "page_offset": offset}
            page = self.call("POST", "/dags/~/dagRuns/list", json=body)
            yield from map(_dag_run, page["dag_runs"])
            offset += len(page["dag_runs"])
            if not page["dag_runs"] or offset >= page["total_entries"]:
                return

    def latest_runs(self, dag_id: str, limit: int = 1) -> tuple[DagRun, ...]:
        """Return the newest runs of a DAG. Raises NotFoundError."""
        query = {"order_by": ["-run_after"], "limit": limit}
        found = self.call("GET", f"/dags/{_part(dag_id)}/dagRuns", params=query)
        return tuple(_dag_run(run) for run in found["dag_runs"])

    def file_of(self, dag_id: str) -> DagFile | None:
        """Return the file in which the DAG was last found; ``None`` if there is no such DAG."""
        try:
            dag = self.call("GET", f"/dags/{_part(dag_id)}")
        except NotFoundError:
            return None
        return None if dag["is_stale"] else DagFile(dag["file_token"], str(dag["last_parsed_time"]))

    def reparse(self, file: DagFile) -> None:
        """Request that a file is parsed now."""
        # 409: that was requested already.
        self.call("PUT", f"/parseDagFile/{_part(file.token)}", fine=(409,))

    def set_paused(self, dag_ids: Collection[str], is_paused: bool) -> frozenset[str]:
        """Pause or unpause DAGs → those of them that Airflow has."""
        found: set[str] = set()
        for some in _batches(dag_ids):
            query = {"tags": [TAG], "dag_id_pattern": "|".join(some), "limit": _IDS_IN_ADDRESS}
            page = self.call("PATCH", "/dags", params=query, json={"is_paused": is_paused})
            found |= {dag["dag_id"] for dag in page["dags"]}
        return frozenset(found & set(dag_ids))

    def trigger(self, dag_id: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError."""
        return str(self.call("POST", f"/dags/{_part(dag_id)}/dagRuns", json={"logical_date": None})["dag_run_id"])

    def backfill(self, dag_id: str, first: datetime, last: datetime) -> int:
        """Make the schedule's runs from ``first`` to ``last`` run again, or for the first time, one at a time → its id.

        Raises NotFoundError, IllegalWorkerStateError where a backfill is running, BadRequestError where there is none.
        """
        times = {"from_date": first.isoformat(), "to_date": last.isoformat()}
        # "completed" includes runs that have failed.
        body = {"dag_id": dag_id, **times, "reprocess_behavior": "completed", "max_active_runs": 1}
        answer = self.answer("POST", "/backfills", _REFUSALS, {"json": body})
        if answer.status_code == httpx.codes.CONFLICT:
            raise IllegalWorkerStateError("A backfill of this connector is running in Airflow: wait for its end")
        if answer.is_error:
            raise BadRequestError(f"Airflow refuses this backfill: {answer.text[:300]}")
        return int(answer.json()["id"])

    def has_backfill_ended(self, backfill: int) -> bool:
        """Return whether no run of a backfill is left to be made, whatever became of them. Raises NotFoundError."""
        return self.call("GET", f"/backfills/{backfill}")["completed_at"] is not None

    def clear(self, dag_id: str, run_id: str) -> None:
        """Clear a run, so that its tasks are tried again. Raises NotFoundError."""
        body = {"dry_run": False, "only_failed": False}
        self.call("POST", f"/dags/{_part(dag_id)}/dagRuns/{_part(run_id)}/clear", json=body)

    def delete_dag(self, dag_id: str) -> bool:
        """Delete a DAG with its history → false if one of its tasks is running."""
        path = f"/dags/{_part(dag_id)}"
        return self.answer("DELETE", path, (404, 409), {}).status_code != httpx.codes.CONFLICT

    def option(self, section: str, key: str) -> str:
        """Return an option of Airflow's configuration. Raises ConnectError where that is not exposed."""
        found = self.call("GET", f"/config/section/{_part(section)}/option/{_part(key)}")
        return str(found["sections"][0]["options"][0]["value"])

    def _dags(self, query: Mapping[str, Any]) -> Iterator[Any]:
        offset = 0
        while True:
            page = self.call("GET", "/dags", params={**query, "limit": _PAGE, "offset": offset})
            yield from page["dags"]
            offset += len(page["dags"])
            if not page["dags"] or offset >= page["total_entries"]:
                return


def _batches(dag_ids: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(dag_ids)
    return (ordered[start : start + _IDS_IN_ADDRESS] for start in range(0, len(ordered), _IDS_IN_ADDRESS))


def _dag_run(run: Mapping[str, Any]) -> DagRun:
    ended = run["end_date"]
    since = (datetime.now(UTC) - datetime.fromisoformat(ended)).total_seconds() if ended else None
    return DagRun(run["dag_id"], run["dag_run_id"], run["run_type"], run["state"], since)


def _part(text: str) -> str:
    return quote(text, safe="")
