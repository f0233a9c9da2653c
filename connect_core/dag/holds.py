"""How long connectors with failing runs are held back: computed from Airflow's runs, listed for all at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

from connect_core.dag.airflow_api import AirflowApi, RunFilter
from connect_core.dag.naming import dag_id_of

__all__ = ["hold_seconds", "holds"]

_MOST_FAILURES = 8
_BACKFILL = "backfill"
_FIRST_SECONDS = 10.0
_LONGEST_SECONDS = 600.0
_BUSY_SECONDS = 5.0
"""When to look again at a connector whose run has not ended in Airflow."""
_LOOK_BACK = timedelta(hours=2)
"""Longer than ``_MOST_FAILURES`` failures take, each after the longest pause."""


def hold_seconds(failures: int, seconds_since_last: float) -> float:
    """Return how much longer to hold a connector back after so many failures in a row."""
    if not failures:
        return 0.0
    pause = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** (min(failures, _MOST_FAILURES) - 1))
    return max(0.0, pause - seconds_since_last)


def holds(api: AirflowApi, connectors: Collection[str]) -> Mapping[str, float]:
    """Return the seconds for which to hold back connectors whose runs failed recently or have not ended.

    Two calls for all of them if none failed recently. Raises RetriableError.
    """
    now = datetime.now(UTC)
    names = {dag_id_of(name): name for name in connectors}
    lately = RunFilter(tuple(names), ("failed",), now - timedelta(seconds=_LONGEST_SECONDS))
    failing = {run.dag_id for run in api.runs(lately)}
    streaks = _streaks(api, failing, now)
    found = {names[dag_id]: hold_seconds(*streak) for dag_id, streak in streaks.items()}
    open_runs = api.runs(RunFilter(tuple(names), ("queued", "running")))
    for run in open_runs:
        if run.run_type != _BACKFILL:
            found[names[run.dag_id]] = max(found.get(names[run.dag_id], 0.0), _BUSY_SECONDS)
    return {name: seconds for name, seconds in found.items() if seconds}


def _streaks(api: AirflowApi, failing: Collection[str], now: datetime) -> dict[str, tuple[int, float]]:
    """Return for each DAG how many of its newest runs failed in a row, and how many seconds ago the last one ended."""
    streaks: dict[str, tuple[int, float]] = {}
    unknown = set(failing)
    if not unknown:
        return {}
    for run in api.runs(RunFilter(tuple(sorted(failing)), ("failed", "success"), now - _LOOK_BACK)):
        if run.dag_id not in unknown:
            continue
        count, seconds = streaks.get(run.dag_id, (0, run.seconds_since_end or 0.0))
        if run.state == "failed":
            streaks[run.dag_id] = count + 1, seconds
        if run.state != "failed" or count + 1 >= _MOST_FAILURES:
            unknown.discard(run.dag_id)
        if not unknown:
            break
    return streaks
