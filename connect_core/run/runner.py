"""Runs the tasks of a plan: any implementation of this protocol, or the threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from connect_core.interval.values import Plan, TaskResult
from connect_core.task.attempt import run_task

__all__ = ["LazyRunner", "TaskRunner", "ThreadRunner"]


class TaskRunner(Protocol):
    """Runs every task of a plan once; a task without a result is unclear."""

    def run(self, plan: Plan) -> Sequence[TaskResult]:
        """Run the tasks side by side and return their results."""

    def interrupt(self, tag: str) -> None:
        """End the job of this tag, if any; correctness does not depend on its end."""


@dataclass(slots=True)
class LazyRunner:
    """Opens its runner when the first plan has work: an idle run costs no Spark session."""

    open: Callable[[], TaskRunner]
    _opened: TaskRunner | None = None

    def run(self, plan: Plan) -> Sequence[TaskResult]:
        """Run the plan with the opened runner."""
        if self._opened is None:
            self._opened = self.open()
        return self._opened.run(plan)

    def interrupt(self, tag: str) -> None:
        """End the job of this tag, if a runner was ever opened."""
        if self._opened is not None:
            self._opened.interrupt(tag)


@dataclass(frozen=True, slots=True)
class ThreadRunner:
    """Runs tasks as threads of this process: standard input and unit tests."""

    def run(self, plan: Plan) -> Sequence[TaskResult]:
        """Run the tasks in as many threads."""
        if not plan.tasks:
            return ()
        with ThreadPoolExecutor(len(plan.tasks), thread_name_prefix="task") as pool:
            return list(pool.map(run_task, plan.tasks))

    def interrupt(self, tag: str) -> None:
        """Do nothing: threads end with their interval."""
