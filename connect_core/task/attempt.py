"""One attempt of one task: from its plan to its result, whatever happens in between."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from datetime import UTC, datetime

from connect_core.interval.failpoints import reach
from connect_core.interval.values import ConnectorType, TaskOutcome, TaskPlan, TaskResult
from connect_core.task.failures import failed
from connect_core.task.planned_sink import run_sink
from connect_core.task.planned_source import run_source

__all__ = ["run_task"]


def run_task(plan: TaskPlan) -> TaskResult:
    """Run one attempt and return its result; never raises, as a lost result would report nothing."""
    started = datetime.now(UTC)
    base = TaskResult(plan.task, TaskOutcome.DONE, host=socket.gethostname(), pid=os.getpid(), started=started)
    run = run_source if plan.type is ConnectorType.SOURCE else run_sink
    try:
        reach("K3", plan.key.connector)
        result = run(plan, base)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Also a plugin that tries to end the process, and a library in Rust that panics.
        result = failed(base, plan, error)
    return replace(result, ended=datetime.now(UTC))
