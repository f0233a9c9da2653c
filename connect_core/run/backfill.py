"""How a backfill's run ends: it is requested once, so no later run does what it leaves undone."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from connect_core.errors import RetriableError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.store.interval_history import PastInterval

__all__ = ["concluded", "unreported"]

_LOG = logging.getLogger(__name__)


def unreported(request: RunRequest | None, found: Sequence[PastInterval]) -> list[PastInterval]:
    """Return the intervals a run has committed; for a backfill, only its own since it began.

    Airflow may turn the scheduled run of an hour into the backfill's, under its id, and a backfill's run into the next
    one's.
    """
    if request is None or request.since is None:
        return list(found)
    own = [past for past in found if past.row.is_backfill]
    begun = request.begun_at
    return [past for past in own if begun is None or past.ended_at is None or past.ended_at >= begun]


def concluded(request: RunRequest, outcome: RunOutcome, *, is_stopping: bool) -> RunOutcome:
    """Return the outcome of the run. Raises RetriableError for a backfill that was not carried out."""
    if request.since is None:
        return outcome
    if outcome.status is RunStatus.SKIPPED:
        raise RetriableError(f"{outcome.reason}; the backfill waits for its end")
    if is_stopping or outcome.status is RunStatus.STOPPED:
        raise RetriableError(f"The backfill of {request.connector} was interrupted; what it has exported stays")
    if outcome.status is not RunStatus.IDLE:
        return outcome
    reason = (
        f"Nothing to export again of {request.connector} from {request.since} to {request.bound_time}: Kafka has no "
        "record of that time before the live position, or a backfill by this configuration has exported it"
    )
    _LOG.info("%s", reason)
    return replace(outcome, reason=reason)
