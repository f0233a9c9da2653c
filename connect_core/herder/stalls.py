"""When a connector is stalled, and why: rules over stored facts, so that no system has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from connect_core.herder.waiting import Work, is_continuous
from connect_core.interval.values import ConnectorType, IntervalState, TargetState
from connect_core.store import reports
from connect_core.store.reports import PartReport
from connect_core.store.statuses import ConnectorFacts, IntervalFacts, WaitingFacts

__all__ = ["Cause", "Deployment", "Stall", "stall_of"]

_SILENT_SECONDS = 20.0
"""The age from which a part that reports every few seconds counts as gone."""


class Cause(Enum):
    """Why there is no progress; the first cause that fits is reported."""

    KAFKA = "kafka"
    HEARTBEAT = "heartbeat"
    SPARK = "spark"
    SLOW = "slow"
    RETRY = "retry"
    TRIGGERER = "triggerer"
    AIRFLOW = "airflow"
    SCHEDULER = "scheduler"
    DAG_PROCESSOR = "dag_processor"
    QUEUED = "queued"
    SLOT = "slot"
    NO_RUN = "no_run"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Deployment:
    """Reports of the parts that all connectors share. ``is_airflow``: runs are started by Airflow."""

    parts: Mapping[str, PartReport]
    stalled_after: float = 60.0
    is_airflow: bool = True

    def silent(self, part: str, seconds: float = _SILENT_SECONDS) -> PartReport | None:
        """Return the report of a part that has not worked for so long; ``None`` if it works or there is no report.

        Except for the watcher, the report must be recent: an old one only means that the reporting process is gone.
        """
        report = self.parts.get(part)
        if report is None or _age(report) <= seconds:
            return None
        return report if part == reports.WATCHER or report.reported_age <= _SILENT_SECONDS else None


@dataclass(frozen=True, slots=True)
class Stall:
    """Work has waited without progress since ``since``; ``reason`` explains why, as far as known."""

    cause: Cause
    since: datetime
    reason: str


def stall_of(facts: ConnectorFacts, deployment: Deployment) -> Stall | None:
    """Return why a started connector makes no progress although work waits, or ``None``.

    A connector is stalled when work has waited without progress for ``stalled_after`` seconds, when its running
    interval has sent no heartbeat for so long, or when the part that would find its work has not worked for so long.
    """
    if facts.target_state is not TargetState.STARTED or facts.is_dag_paused:
        return None
    waiting, after = facts.waiting, deployment.stalled_after
    running = _running(facts)
    if running is not None and (running.heartbeat_age or 0.0) > after:
        since = _ago(running.heartbeat_age or 0.0) if waiting is None else waiting.since
        return Stall(Cause.HEARTBEAT, since, _heartbeat_text(running))
    if waiting is not None and waiting.age > after:
        cause, reason = next(_causes(facts, waiting, deployment))
        return Stall(cause, waiting.since, reason)
    return _unwatched(facts, deployment) if waiting is None else None


def _unwatched(facts: ConnectorFacts, deployment: Deployment) -> Stall | None:
    """Return the stall of a connector whose work nobody looks for: the watcher asks sources, Kafka has sinks' ends."""
    if not is_continuous(facts) or _running(facts) is not None:
        return None
    part = reports.WATCHER if facts.type is ConnectorType.SOURCE and deployment.is_airflow else reports.KAFKA
    report = deployment.silent(part, deployment.stalled_after)
    if report is None:
        return None
    cause = Cause.TRIGGERER if part == reports.WATCHER else Cause.KAFKA
    text = _triggerer_text(report) if part == reports.WATCHER else _part_text("Kafka", report)
    return Stall(cause, report.worked_at or _ago(report.reported_age), f"{text}: whether data is waiting is unknown")


def _causes(facts: ConnectorFacts, waiting: WaitingFacts, deployment: Deployment) -> Iterator[tuple[Cause, str]]:
    if kafka := deployment.silent(reports.KAFKA):
        yield Cause.KAFKA, _part_text("Kafka", kafka)
    running = _running(facts)
    if running is not None and (running.heartbeat_age or 0.0) <= _SILENT_SECONDS:
        yield from _causes_of_interval(running, waiting)
    if running is not None and facts.lease_age is not None and facts.lease_age < 0:
        yield Cause.HEARTBEAT, _heartbeat_text(running)
    if waiting.work == Work.RETRY.value:
        yield Cause.RETRY, _retry_text(facts.interval)
    if running is None and facts.failure is not None and facts.failure.is_retried:
        yield Cause.RETRY, f"its last plan failed and is tried again: {_last_line(facts.failure.trace)}"
    if deployment.is_airflow:
        yield from _causes_in_airflow(facts, waiting, deployment)
    yield Cause.UNKNOWN, f"{_work_text(waiting)}: nothing has started it, for an unknown reason"


def _causes_of_interval(running: IntervalFacts, waiting: WaitingFacts) -> Iterator[tuple[Cause, str]]:
    if not any(task.is_started for task in running.tasks):
        yield (
            Cause.SPARK,
            f"Spark has started no task of interval {running.sequence} since {_time(waiting.since)}: "
            "its slots are in use, or it has no executor",
        )
    yield (
        Cause.SLOW,
        f"interval {running.sequence} is running and sends heartbeats, but its tasks have moved nothing since "
        f"{_time(waiting.since)}: the target or the source is slow or hangs",
    )


def _causes_in_airflow(
    facts: ConnectorFacts, waiting: WaitingFacts, deployment: Deployment
) -> Iterator[tuple[Cause, str]]:
    watcher = deployment.parts.get(reports.WATCHER)
    if watcher is None:
        yield Cause.TRIGGERER, "no triggerer: the watcher has never reported; start Airflow's triggerer"
    elif _age(watcher) > _SILENT_SECONDS:
        yield Cause.TRIGGERER, f"{_triggerer_text(watcher)}: start Airflow's triggerer"
    if airflow := deployment.silent(reports.AIRFLOW):
        yield Cause.AIRFLOW, _part_text("Airflow", airflow)
    if scheduler := deployment.silent(reports.SCHEDULER):
        yield (
            Cause.SCHEDULER,
            f"no scheduler: the last heartbeat of Airflow's scheduler was at {_time(scheduler.worked_at)}",
        )
    processor = deployment.silent(reports.DAG_PROCESSOR, deployment.stalled_after)
    if processor and facts.task_count is None and waiting.run_id is None:
        last = _time(processor.worked_at)
        yield (
            Cause.DAG_PROCESSOR,
            f"no DAG yet and no DAG processor: the last heartbeat of Airflow's DAG processor was at {last}",
        )
    rule = _BY_STATE.get(waiting.run_state or "")
    if rule is not None:
        yield rule(waiting)
    if waiting.run_state is None:
        yield Cause.NO_RUN, f"{_work_text(waiting)}: {_NO_RUN}"
    yield Cause.UNKNOWN, f"{_work_text(waiting)}: the task of its run is {waiting.run_state}"


def _queued(waiting: WaitingFacts) -> tuple[Cause, str]:
    text = (
        f"its run has been queued since {_time(waiting.run_since)}: the executor has its task and has not "
        "started it; other tasks use all of core.parallelism, or it lost the task"
    )
    if waiting.cleared:
        text += f", and again {waiting.cleared} times; restart the scheduler, or the executor's workers"
    return Cause.QUEUED, text


def _scheduled(waiting: WaitingFacts) -> tuple[Cause, str]:
    since, pool = _time(waiting.run_since or waiting.since), waiting.run_pool or "default_pool"
    return (
        Cause.SLOT,
        f"no slot since {since}: its task could start, but other tasks use all of core.parallelism or pool {pool}",
    )


def _held_back(waiting: WaitingFacts) -> tuple[Cause, str]:
    return Cause.SLOT, f"{_work_text(waiting)}: its run waits for another run of its DAG, or for one to be scheduled"


def _running_task(waiting: WaitingFacts) -> tuple[Cause, str]:
    return (
        Cause.SLOW,
        f"the task of its run has been running since {_time(waiting.run_since)} without starting an interval: "
        "see its log in Airflow, and check that Kafka, Spark and the connector's own systems respond",
    )


def _tried_again(waiting: WaitingFacts) -> tuple[Cause, str]:
    return Cause.RETRY, f"{_work_text(waiting)}: its run failed and waits for Airflow's next attempt; see its log"


_NO_RUN = (
    "Airflow has not created a run of it; see import errors, the triggerer's log, and whether triggerer.capacity "
    "exceeds the number of connectors"
)

_BY_STATE: Mapping[str, Callable[[WaitingFacts], tuple[Cause, str]]] = {
    "queued": _queued,
    "scheduled": _scheduled,
    "none": _held_back,
    "running": _running_task,
    "restarting": _running_task,
    "up_for_retry": _tried_again,
}


def _running(facts: ConnectorFacts) -> IntervalFacts | None:
    interval = facts.interval
    is_running = interval is not None and not interval.state.is_final and interval.state is not IntervalState.FAILED
    return interval if is_running else None


def _heartbeat_text(interval: IntervalFacts) -> str:
    age = interval.heartbeat_age
    since = f" since {_time(_ago(age))}" if age is not None else ""
    return f"interval {interval.sequence} has sent no heartbeat{since}: it will time out and then be retried"


def _retry_text(interval: IntervalFacts | None) -> str:
    at = interval.retry_at if interval else None
    return f"the last attempt of its interval failed; the next one is at {_time(at)}"


def _last_line(trace: str) -> str:
    """Return the line of a trace that names the error."""
    lines = [line for line in trace.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
    return lines[-1] if lines else trace


def _work_text(waiting: WaitingFacts) -> str:
    what = _WORK_TEXTS[Work(waiting.work)]
    if waiting.records is not None:
        what = f"{waiting.records} records wait"
    return f"{what} since {_time(waiting.since)}"


_WORK_TEXTS = {
    Work.RECORDS: "records wait",
    Work.PLAN: "its first plan waits",
    Work.CONFIG: "its new configuration waits",
    Work.RESTART: "a restart waits",
    Work.INTERVAL: "an unfinished interval waits",
    Work.RETRY: "a retry waits",
    Work.RUN: "a run waits",
}


def _triggerer_text(report: PartReport) -> str:
    return f"no triggerer: the watcher has not reported since {_time(report.worked_at)}"


def _part_text(name: str, report: PartReport) -> str:
    since = f" since {_time(report.worked_at)}" if report.worked_at else ""
    return f"{name} has not responded{since}" + (f" ({report.error})" if report.error else "")


def _age(report: PartReport) -> float:
    """Return how many seconds ago a part worked; infinite if it never did."""
    return float("inf") if report.worked_age is None else report.worked_age


def _ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


def _time(moment: datetime | None) -> str:
    return "never" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
