"""What an attempt of a task reports, whatever ends it."""

from __future__ import annotations

import pytest

from connect_core.interval.values import TaskOutcome, TaskPlan, TaskResult
from connect_core.task import attempt
from tests.spark.test_runner import TASK

PANIC = type("PanicException", (BaseException,), {})


@pytest.mark.parametrize("error", [SystemExit("no licence"), PANIC("no licence"), ValueError("no licence")])
def test_whatever_a_plugin_raises_is_the_tasks_failure(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Without a result the task would be repeated for ever, and nobody would learn why."""

    def run(plan: TaskPlan, base: TaskResult) -> TaskResult:
        raise error

    monkeypatch.setattr(attempt, "run_sink", run)
    result = attempt.run_task(TASK)
    assert (result.outcome, result.error and result.error.is_retriable) == (TaskOutcome.FAILED, False)
    assert result.error is not None
    assert "no licence" in result.error.message
    assert type(error).__name__ in result.error.trace
