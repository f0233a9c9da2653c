"""Connectors for lists and pages: status, lag, guarantee, and the strip of their last intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from connect_core.api.guarantee import Delivery
from connect_core.api.records import TopicPartition
from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.guarantee import declared_guarantee
from connect_core.herder.lag import sum_of, topics_of
from connect_core.herder.status import ConnectorStatus, PartStatus, State, TaskStatus, compute_status, deployment_of
from connect_core.interval.values import ConnectorType
from connect_core.store import interval_history, overviews, reports, silences, statuses, topics
from connect_core.store.interval_history import IntervalMark
from connect_core.store.silences import Silence
from connect_core.store.statuses import ConnectorFacts
from connect_core.store.strips import strips_of

__all__ = [
    "ConnectorOverview",
    "ConnectorSummary",
    "ConnectorSummaryList",
    "dead_letter_topic",
    "get_overview",
    "list_silences",
    "summarize",
]

_DEAD_LETTERS = "errors.deadletterqueue.topic.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSummary:
    """A line of the list of connectors. ``strip``: the last 20 intervals, the oldest first.

    ``lag``: records a sink is behind, null if not known. ``trace_line``: the line with the error of the connector's or
    its first failed task's trace. ``guarantee_condition``: the condition of the guarantee, empty if there is none. If
    ``is_stalled``, work has waited without progress since ``stalled_since``; ``stalled_cause`` is a word for
    programs, ``stalled_reason`` a sentence for people. ``dag_id``: its DAG in Airflow, if the API has it.
    """

    name: str
    type: ConnectorType
    connector_class: str
    plugin_version: str | None
    state: State
    is_stalled: bool
    stalled_cause: str | None
    stalled_since: datetime | None
    stalled_reason: str | None
    tasks: dict[str, int]
    lag: int | None
    last_success_at: datetime | None
    next_run_at: datetime | None
    schedule: str
    guarantee: Delivery
    guarantee_condition: str
    tags: list[str]
    strip: list[IntervalMark]
    trace_line: str | None
    dag_id: str | None = None
    worker_id: str


@dataclass(frozen=True, slots=True)
class ConnectorSummaryList:
    """All connectors that the caller may see, by name; ``scheduler_silences`` is empty while Airflow answers."""

    connectors: list[ConnectorSummary]
    scheduler_silences: list[Silence]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOverview(ConnectorSummary):
    """One connector: its line in the list, its tasks and its DAG. ``trace`` is the connector's own."""

    config_version: int
    planned_version: int | None
    created_at: datetime
    updated_at: datetime
    retry_at: datetime | None
    trace: str | None
    task_views: list[TaskStatus]
    dead_letter_topic: str | None
    topics: list[str]
    dag_url: str | None = None


def summarize(herder: Herder, strip: int = 20) -> list[ConnectorSummary]:
    """Return the lines of all connectors, by name: six statements for any number of them.

    ``strip``: how many of the last intervals a line contains.
    """
    with herder.database.read() as connection:
        facts = statuses.load_facts(connection)
        marks = strips_of(herder.database, strip).load(connection, facts)
        positions = overviews.all_sink_positions(connection)
        parts = reports.load(connection)
    lags = _lags(herder, facts, positions)
    deployment, worker_id = deployment_of(herder, parts), herder.worker_id
    return [
        _summary(one, compute_status(one, worker_id, deployment), marks.get(one.name, ()), lags.get(one.name))
        for one in facts
    ]


def list_silences(herder: Herder) -> list[Silence]:
    """Return since when the scheduler has not answered, by observer; nothing while it answers."""
    with herder.database.read() as connection:
        return silences.list_silences(connection)


def get_overview(herder: Herder, name: str) -> ConnectorOverview:
    """Return one connector. Raise NotFoundError."""
    with herder.database.read() as connection:
        found = statuses.load_facts(connection, [name])
        if not found:
            raise NotFoundError(f"Connector {name} not found")
        marks = interval_history.list_marks(connection, names=[name])
        positions = overviews.all_sink_positions(connection, [name])
        stamps = overviews.stamps(connection, name)
        active = topics.active(connection, name)
        parts = reports.load(connection)
    (facts,) = found
    lag = _lags(herder, found, positions).get(name)
    status = compute_status(facts, herder.worker_id, deployment_of(herder, parts))
    summary = _summary(facts, status, marks.get(name, ()), lag)
    shared = {one.name: getattr(summary, one.name) for one in fields(summary)}
    return ConnectorOverview(
        **shared,
        config_version=facts.config_version,
        planned_version=facts.planned_version,
        created_at=stamps.created_at,
        updated_at=stamps.updated_at,
        retry_at=facts.interval.retry_at if facts.interval else None,
        trace=status.connector.trace,
        task_views=list(status.tasks),
        dead_letter_topic=dead_letter_topic(facts.config),
        topics=active,
    )


def dead_letter_topic(config: Mapping[str, str]) -> str | None:
    """Return the topic of a configuration's dead letter queue, if any."""
    return config.get(_DEAD_LETTERS, "").strip() or None


def _lags(
    herder: Herder, facts: Collection[ConnectorFacts], positions: Mapping[str, Mapping[TopicPartition, int]]
) -> dict[str, int | None]:
    """Return the lag of every sink; ``None`` if the ends of its topics are not known yet."""
    sinks = {one.name: topics_of(one.config) for one in facts if one.type is ConnectorType.SINK}
    if herder.ends is None or not sinks:
        return {}
    wanted = {topic for named in sinks.values() for topic in named}
    wanted |= {part.topic for name in sinks for part in positions.get(name, ())}
    ends = herder.ends.known(wanted)
    return {name: sum_of(positions.get(name, {}), named, ends) for name, named in sinks.items()}


def _summary(
    facts: ConnectorFacts, status: ConnectorStatus, strip: Sequence[IntervalMark], lag: int | None
) -> ConnectorSummary:
    stall, guarantee = status.stall, declared_guarantee(facts.config)
    return ConnectorSummary(
        name=facts.name,
        type=facts.type,
        connector_class=facts.config.get("connector.class", ""),
        plugin_version=facts.plugin_version,
        state=status.connector.state,
        is_stalled=status.is_stalled,
        stalled_cause=stall.cause.value if stall else None,
        stalled_since=stall.since if stall else None,
        stalled_reason=stall.reason if stall else None,
        tasks=dict(Counter(task.state.value for task in status.tasks)),
        lag=lag,
        last_success_at=facts.committed_at,
        next_run_at=facts.next_run_at,
        schedule=facts.config.get("schedule") or "@continuous",
        guarantee=guarantee.delivery,
        guarantee_condition=guarantee.condition,
        tags=_tags(facts.config),
        strip=list(strip),
        trace_line=_trace_line([status.connector, *status.tasks]),
        worker_id=status.connector.worker_id,
    )


def _tags(config: Mapping[str, str]) -> list[str]:
    return sorted({tag.strip() for tag in config.get("tags", "").split(",")} - {""})


def _trace_line(parts: Sequence[PartStatus]) -> str | None:
    """Return the error of the first failed part: its trace's first line that is neither indented nor a heading."""
    for part in parts:
        if part.state is State.FAILED and part.trace:
            lines = [line for line in part.trace.splitlines() if line.strip()]
            said = [line for line in lines if not line[0].isspace() and not line.startswith(_FRAMES)]
            return next(iter(said or lines), None)
    return None


_FRAMES = ("Traceback ", "The above exception", "During handling", "The next automatic restart")
