"""What the result of an attempt says of an error, with no secret of the connector in it."""

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


def failed(base: TaskResult, plan: TaskPlan, error: Exception) -> TaskResult:
    """Return the result of an attempt that ended with an error."""
    clean = _redaction_of(plan).clean(error)
    return replace(base, outcome=outcome_of(clean), error=error_of(clean))


def _redaction_of(plan: TaskPlan) -> Redaction:
    """Return what takes the connector's secrets out of an error, however far the task has come."""
    environment = dict(os.environ)
    try:
        providers = providers_of(task_worker(plan.worker, environment), environment)
    except ConnectError:
        # Nothing was resolved, so there is nothing that the error could tell.
        return Redaction()
    return Redaction(plan.connector_config, providers, plan.key.connector)


def outcome_of(error: BaseException) -> TaskOutcome:
    """Return what an error says of the records: a newer epoch has them, nobody knows, or they were not delivered."""
    if isinstance(error, StaleEpochError):
        return TaskOutcome.STALE
    return TaskOutcome.UNCLEAR if isinstance(error, UnclearOutcomeError) else TaskOutcome.FAILED


def error_of(error: BaseException) -> TaskError:
    """Return an error as a result carries it; whether it may pass by itself is told from its class."""
    trace = "".join(traceback.format_exception(error))
    return TaskError(class_name(error), str(error), trace, isinstance(error, RetriableError) or is_shortage(error))
