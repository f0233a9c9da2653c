"""The error in the result of an attempt, without the connector's secrets."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace

from connect_core.configs import Redaction, providers_of, task_worker
from connect_core.errors import ConnectError, RetriableError, StaleEpochError, UnclearOutcomeError
from connect_core.interval.values import TaskError, TaskOutcome, TaskPlan, TaskResult
from connect_core.task.shortage import is_shortage
from connect_core.task.tolerance import class_name

__all__ = ["error_of", "failed", "outcome_of"]


def failed(base: TaskResult, plan: TaskPlan, error: BaseException) -> TaskResult:
    """Return the result of an attempt that ended with an error."""
    clean = _redaction_of(plan).clean(error)
    return replace(base, outcome=outcome_of(clean), error=error_of(clean))


def _redaction_of(plan: TaskPlan) -> Redaction:
    """Return what removes the connector's secrets from an error, however far the task has come."""
    environment = dict(os.environ)
    try:
        providers = providers_of(task_worker(plan.worker, environment), environment)
    except ConnectError:
        # Nothing was resolved, so the error can contain no secret.
        return Redaction()
    return Redaction(plan.connector_config, providers, plan.key.connector)


def outcome_of(error: BaseException) -> TaskOutcome:
    """Return the outcome for an error: a newer epoch owns the records, it is unclear, or they were not delivered."""
    if isinstance(error, StaleEpochError):
        return TaskOutcome.STALE
    return TaskOutcome.UNCLEAR if isinstance(error, UnclearOutcomeError) else TaskOutcome.FAILED


def error_of(error: BaseException) -> TaskError:
    """Return an error in the form for a result; its class decides whether it is retriable."""
    trace = "".join(traceback.format_exception(error))
    return TaskError(class_name(error), str(error), trace, isinstance(error, RetriableError) or is_shortage(error))
