"""Running the tasks of a plan as partitions of a Spark job."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from connect_core.interval.results import result_from_bytes
from connect_core.interval.values import Plan, TaskResult
from connect_core.spark.partition import partition_function

__all__ = ["SparkRunner", "interrupt_tag"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SparkRunner:
    """Runs tasks as partitions of one DataFrame job; local, submit and Connect alike."""

    session: Any

    def run(self, plan: Plan) -> Sequence[TaskResult]:
        """Run the job under the interval's tag; an earlier job of the tag is ended first.

        A job that Spark gave up, as its worker or server died, returns nothing: the markers show what it did.
        """
        if not plan.tasks:
            return ()
        try:
            self.interrupt(plan.job_tag)
            self.session.addTag(plan.job_tag)
            try:
                return self._collect(plan)
            finally:
                self.session.removeTag(plan.job_tag)
        except (PySparkException, Py4JError) as error:
            _LOG.warning("Spark job %s failed: %s", plan.job_tag, error)
            return ()

    def _collect(self, plan: Plan) -> Sequence[TaskResult]:
        count = len(plan.tasks)
        frame = self.session.range(0, count, 1, count).mapInArrow(
            partition_function(plan.tasks), "task int, result binary"
        )
        return list(_read(plan, frame.collect()))

    def interrupt(self, tag: str) -> None:
        """End the jobs of this tag. Spark's ``interruptAll`` would end other connectors' jobs."""
        interrupt_tag(self.session, tag)


def _read(plan: Plan, rows: Sequence[Any]) -> Iterator[TaskResult]:
    """Return the results of the plan's tasks; unreadable ones are left out, so that the task's outcome is unclear."""
    tasks = {task.task for task in plan.tasks}
    for row in rows:
        try:
            result = result_from_bytes(row.result)
        except ValueError as error:
            _LOG.warning("The result of a task of job %s cannot be read: %s", plan.job_tag, error)
            continue
        if result.task in tasks:
            yield result


def interrupt_tag(session: Any, tag: str) -> None:
    """End the session's jobs of this tag, in Spark Connect and in a classic session."""
    if hasattr(session, "interruptTag"):
        session.interruptTag(tag)
    else:
        session.sparkContext.cancelJobsWithTag(tag)
