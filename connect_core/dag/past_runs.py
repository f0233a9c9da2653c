"""Deletes old runs of our DAGs from Airflow, which keeps them for ever: by age, and by number per DAG."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from connect_core.dag.airflow_tasks import Calls
from connect_core.errors import ConnectError
from connect_core.store.retention import Retention

__all__ = ["PastRuns"]

_LOG = logging.getLogger(__name__)
_PAGE = 100
"""How many runs Airflow deletes in one transaction; also its maximum page size by default."""
_SECONDS = 120.0
_FINISHED = ("success", "failed")

_Key = tuple[str, str]
"""DAG id and run id."""


@dataclass(slots=True)
class PastRuns:
    """One pass over the finished runs of some DAGs: one call at a time, for ``seconds`` at most.

    The newest run of a DAG is always kept: Airflow computes from it when the next one is due.
    """

    api: Calls
    dag_ids: Collection[str]
    retention: Retention
    seconds: float = _SECONDS
    _newest: dict[str, str] = field(default_factory=dict)
    _ends_at: float = 0.0

    def forget(self) -> int:
        """Delete runs beyond the retention, the oldest first → how many. Raises ConnectError."""
        self._ends_at = time.monotonic() + self.seconds
        before = (datetime.now(UTC) - self.retention.age).isoformat()
        forgotten = self._forget(self.dag_ids, {"end_date_lte": before})
        for dag_id, beyond in self._beyond_number():
            forgotten += self._forget([dag_id], {}, beyond)
        return forgotten

    def _beyond_number(self) -> Iterator[tuple[str, int]]:
        """Yield DAGs with too many runs, and how many too many; counts groups of DAGs, and halves those that exceed."""
        groups = [sorted(self.dag_ids)]
        while groups and self._has_time():
            group = groups.pop()
            total = self._page(group, {}, limit=1)["total_entries"] if group else 0
            if total > self.retention.most and len(group) > 1:
                groups += [group[: len(group) // 2], group[len(group) // 2 :]]
            elif total > self.retention.most:
                yield group[0], total - self.retention.most

    def _forget(self, dag_ids: Collection[str], among: Mapping[str, str], most: int | None = None) -> int:
        forgotten = kept = 0
        while dag_ids and self._has_time() and (most is None or forgotten + kept < most):
            limit = _PAGE if most is None else min(_PAGE, most - forgotten - kept)
            page = self._page(dag_ids, among, limit, kept)["dag_runs"]
            if not page:
                break
            keys = [(run["dag_id"], run["dag_run_id"]) for run in page]
            newest = self._newest_of({dag_id for dag_id, _ in keys})
            gone = self._delete([key for key in keys if newest.get(key[0]) != key[1]])
            forgotten, kept = forgotten + gone, kept + len(keys) - gone
        return forgotten

    def _page(self, dag_ids: Collection[str], among: Mapping[str, str], limit: int, offset: int = 0) -> Any:
        """Return a page of finished runs, ordered by when they ended."""
        body = {"dag_ids": sorted(dag_ids), "states": list(_FINISHED), "order_by": "end_date", **among}
        return self._list({**body, "page_limit": limit, "page_offset": offset})

    def _newest_of(self, dag_ids: Collection[str]) -> Mapping[str, str]:
        """Return the newest run of each DAG, in any state; asks again for DAGs that a busy one pushed off the page."""
        while unknown := sorted(set(dag_ids) - set(self._newest)):
            found = self._list({"dag_ids": unknown, "order_by": "-run_after", "page_limit": _PAGE})["dag_runs"]
            for run in found:
                self._newest.setdefault(run["dag_id"], run["dag_run_id"])
            if not found:
                break
        return self._newest

    def _delete(self, keys: Collection[_Key]) -> int:
        """Delete runs → how many were deleted; if Airflow refuses them together, each DAG's separately."""
        try:
            return self._delete_at_once(keys) if keys else 0
        except ConnectError as error:
            dag_ids = {dag_id for dag_id, _ in keys}
            if len(dag_ids) == 1 or not self._has_time():
                _LOG.warning("Runs of %s stay in Airflow: %s", ", ".join(sorted(dag_ids)), error)
                return 0
            return sum(self._delete([key for key in keys if key[0] == dag_id]) for dag_id in sorted(dag_ids))

    def _delete_at_once(self, keys: Collection[_Key]) -> int:
        entities = [{"dag_id": dag_id, "dag_run_id": run_id} for dag_id, run_id in keys]
        # A run deleted by others is skipped; one that was cleared just now is not deleted but reported as an error.
        action = {"action": "delete", "entities": entities, "action_on_non_existence": "skip"}
        told = self.api.call("PATCH", "/dags/~/dagRuns", json={"actions": [action]})["delete"]
        for error in told["errors"]:
            _LOG.info("A run stays in Airflow: %s", error.get("error"))
        return len(keys) - len(told["errors"])

    def _list(self, body: Mapping[str, Any]) -> Any:
        return self.api.call("POST", "/dags/~/dagRuns/list", json=dict(body))

    def _has_time(self) -> bool:
        return time.monotonic() < self._ends_at
