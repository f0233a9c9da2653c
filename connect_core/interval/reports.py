"""A run's request and its report as plain text, for a driver in another process."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus

__all__ = ["report_from_text", "report_to_text", "request_from_text", "request_to_text"]

_TIMES = ("bound_time", "since", "begun_at")
_RECOVERIES: dict[str, type[ConnectError]] = {
    "retriable": RetriableError,
    "stale": StaleEpochError,
    "fatal": ConnectError,
}


def request_to_text(request: RunRequest) -> str:
    """Return the request in letters, digits, ``-`` and ``_`` only: inert on any command line."""
    fields = {**asdict(request), **{name: time and time.isoformat() for name, time in _times(request).items()}}
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def request_from_text(text: str) -> RunRequest:
    """Return the request that ``request_to_text`` wrote. Raises ValueError."""
    fields = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    bound, since, begun = (time and datetime.fromisoformat(time) for time in map(fields.pop, _TIMES))
    return RunRequest(**fields, bound_time=bound, since=since, begun_at=begun)


def _times(request: RunRequest) -> dict[str, datetime | None]:
    return {name: getattr(request, name) for name in _TIMES}


def report_to_text(end: RunOutcome | ConnectError, job_url: str = "") -> str:
    """Return a run's outcome or error, and the address of its latest Spark job, as text."""
    if isinstance(end, ConnectError):
        recovery = next(name for name, kind in _RECOVERIES.items() if isinstance(end, kind))
        return json.dumps({"error": str(end), "recovery": recovery, "job_url": job_url})
    return json.dumps({"outcome": {**asdict(end), "status": end.status.value}, "job_url": job_url})


def report_from_text(text: str) -> tuple[RunOutcome | ConnectError, str]:
    """Return what ``report_to_text`` was given. Raises ValueError."""
    report: dict[str, Any] = json.loads(text)
    if "error" in report:
        return _RECOVERIES[report["recovery"]](report["error"]), report["job_url"]
    fields = report["outcome"]
    fields |= {"status": RunStatus(fields["status"]), "outlets": tuple(fields["outlets"])}
    return RunOutcome(**fields), report["job_url"]
