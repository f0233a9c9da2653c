"""How a backfill's run ends: it was asked for once, so that what it leaves undone no later run does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from connect_core.errors import RetriableError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.store.interval_history import PastInterval

__all__ = ["concluded", "untold"]

_LOG = logging.getLogger(__name__)


def untold(request: RunRequest | None, found: Sequence[PastInterval]) -> list[PastInterval]:
    """Return what a run has committed, as it is for any other run; of a backfill what it has since it was begun.

    Airflow makes the schedule's run of an hour the backfill's, under its id, and a backfill's that of the next one.
    """
    if request is None or request.since is None:
        return list(found)
    own = [past for past in found if past.row.is_backfill]
    begun = request.begun_at
    return [past for past in own if begun is None or past.ended_at is None or past.ended_at >= begun]


def concluded(request: RunRequest, outcome: RunOutcome, *, is_stopping: bool) -> RunOutcome:
    """Return the outcome, as it is for any other run. Raises RetriableError for a backfill that was not carried out."""
    if request.since is None:
        return outcome
    if outcome.status is RunStatus.SKIPPED:
        raise RetriableError(f"{outcome.reason}; the backfill waits for its end")
    if is_stopping or outcome.status is RunStatus.STOPPED:
        raise RetriableError(f"The backfill of {request.connector} was interrupted; what it has exported stands")
    if outcome.status is not RunStatus.IDLE:
        return outcome
    reason = (
        f"Nothing to export again of {request.connector} from {request.since} to {request.bound_time}: Kafka has no "
        "record of that time before the live position, or a backfill by this configuration has exported it"
    )
    _LOG.info("%s", reason)
    return replace(outcome, reason=reason)
