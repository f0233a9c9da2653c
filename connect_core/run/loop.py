"""The loop of a run: plan an interval, run its tasks, commit it (plan/README.md#the-six-steps)."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence

from connect_core.commit.interval import Committed, commit_interval
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.runs import RunIdentity, RunOutcome, RunRequest, RunStatus
from connect_core.interval.values import Plan, TaskOutcome, TaskResult
from connect_core.plan.interval import Verdict
from connect_core.run.backfill import concluded
from connect_core.run.driver import Driver, Progress
from connect_core.run.garbage_collection import collect_garbage_less_often
from connect_core.run.runner import LazyRunner, TaskRunner
from connect_core.settings import WorkerSettings
from connect_core.store import Database

__all__ = ["drive", "failure_of", "work_off"]

_UNCLEAR_TRIES = 3


def drive(
    request: RunRequest,
    settings: WorkerSettings,
    open_runner: Callable[[], TaskRunner],
    stopping: threading.Event | None = None,
) -> RunOutcome:
    """Run a connector with any runner, which is opened when there is work.

    Raises ConnectError, RetriableError, StaleEpochError.
    """
    database = Database(settings.database_url)
    identity = RunIdentity(request.run_id, f"{socket.gethostname()}:{os.getpid()}")
    worker = ConnectorWorker(settings, database, request.connector, identity)
    try:
        return work_off(request, Driver(worker, stopping or threading.Event()), LazyRunner(open_runner))
    finally:
        worker.close()
        database.close()


def work_off(request: RunRequest, driver: Driver, runner: TaskRunner) -> RunOutcome:
    """Take the connector's lease and run interval after interval.

    Raises ConnectError for errors that only a person can fix, RetriableError for temporary ones; what is committed by
    then stays committed.
    """
    collect_garbage_less_often()
    return concluded(request, _intervals(request, driver, runner), is_stopping=driver.is_stopping)


def _intervals(request: RunRequest, driver: Driver, runner: TaskRunner) -> RunOutcome:
    run = driver.begin(request)  # 1 take the lease
    if run is None:
        reason = f"Another run holds connector {request.connector}"
        return RunOutcome(RunStatus.SKIPPED, reason, wait=request.continuous)
    with driver.holding(run) as progress:
        while True:
            if run.state.failure and not request.asked:
                return RunOutcome(RunStatus.FAILED, run.state.failure, wait=request.continuous)
            planned = driver.plan_or_wait(run, request)  # 2 fence the target, 3 recover or bound
            run = planned.run
            if planned.plan is None or driver.is_stopping:
                return progress.ended(_status(planned.verdict, progress), request)
            with driver.watching(run, planned.plan):
                results = runner.run(planned.plan)  # 4 one Spark partition a task
            committed = driver.perform(commit_interval(run, planned.plan, results))  # 5 publish, 6 record
            if committed is Committed.FAILED:
                driver.schedule_retry(request, planned.plan)
                raise failure_of([*results, *planned.plan.kept])
            if committed is Committed.UNCLEAR:
                run = run.unfenced()
                progress.count_unclear(planned.plan, _UNCLEAR_TRIES)
                continue
            progress.count(planned.plan, results)
            if driver.is_over(request, _is_last(planned.plan, results)):
                return progress.ended(RunStatus.DRAINED, request)


def failure_of(results: Sequence[TaskResult]) -> ConnectError:
    """Return the error of a run whose tasks failed: retriable only if every failure is."""
    failed = [result for result in results if result.outcome is TaskOutcome.FAILED and result.error is not None]
    kind = RetriableError if all(one.error and one.error.is_retriable for one in failed) else ConnectError
    first = failed[0]
    assert first.error is not None
    return kind(f"Task {first.task} failed: {first.error.kind}: {first.error.message}\n{first.error.trace}")


def _is_last(plan: Plan, results: Sequence[TaskResult]) -> bool:
    return plan.is_last and not any(result.is_capped for result in results)


def _status(verdict: Verdict, progress: Progress) -> RunStatus:
    if verdict is not Verdict.IDLE:
        return RunStatus.STOPPED
    return RunStatus.DRAINED if progress.intervals else RunStatus.IDLE
