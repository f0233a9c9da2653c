"""What ``/v1`` answers and takes: shapes beyond Connect's, described in OpenAPI.

Times are ISO 8601 in UTC, durations in seconds. Everything a caller reads here
has its secrets hidden.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "ActList",
    "ActView",
    "ConfigChange",
    "ConfigVersionList",
    "ConfigVersionView",
    "ConnectorOverview",
    "ConnectorSummary",
    "ConnectorSummaryList",
    "Counts",
    "Guarantee",
    "IntervalDetail",
    "IntervalMark",
    "IntervalPage",
    "IntervalTaskView",
    "IntervalView",
    "IntervalWord",
    "Lag",
    "OffsetChange",
    "OffsetMoveList",
    "OffsetMoveView",
    "OffsetsPreview",
    "OffsetsPreviewRequest",
    "PartitionLag",
    "RewindRequest",
    "Rewound",
    "RunStarted",
    "SchedulerSilence",
    "SkippedLine",
    "SkippedRecords",
    "SourceOffset",
    "SourceRange",
    "State",
    "TaskView",
    "TopicRange",
    "WorkerInfo",
]

State = Literal["UNASSIGNED", "RUNNING", "PAUSED", "STOPPED", "FAILED", "RESTARTING"]
IntervalWord = Literal["PLANNED", "RUNNING", "STAGED", "COMMITTED", "ABANDONED", "FAILED"]
Guarantee = Literal["exactly-once", "at-least-once", "at-most-once", "unknown"]


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkerInfo(_Entity):
    """Which face of the API this is. ``airflow_url`` is where a browser reaches Airflow, if known."""

    face: Literal["airflow", "rest", "standalone"]
    version: str
    user: str
    airflow_url: str | None


class IntervalMark(_Entity):
    """One mark in the strip of the last intervals; ``seconds`` is null while it runs."""

    sequence: int
    state: IntervalWord
    records: int
    started_at: datetime
    seconds: float | None


class ConnectorSummary(_Entity):
    """A line of the list. ``strip``: the last 20 intervals, the oldest first.

    ``lag``: records a sink is behind, null where it is not known. ``trace_line``:
    the first line of the connector's or its first failed task's trace. ``guarantee_condition``:
    what the guarantee takes, empty where it holds without. Work of one
    that ``is_stalled`` has waited without progress since ``stalled_since``; ``stalled_cause``
    is a word for programs, ``stalled_reason`` a sentence for people.
    """

    name: str
    type: Literal["source", "sink"]
    connector_class: str
    plugin_version: str | None
    state: State
    is_stalled: bool
    stalled_cause: str | None
    stalled_since: datetime | None
    stalled_reason: str | None
    tasks: dict[State, int]
    lag: int | None
    last_success_at: datetime | None
    next_run_at: datetime | None
    schedule: str
    guarantee: Guarantee
    guarantee_condition: str
    tags: list[str]
    strip: list[IntervalMark]
    trace_line: str | None
    dag_id: str | None
    worker_id: str


class SchedulerSilence(_Entity):
    """Airflow does not answer one of the processes that ask it: ``watcher`` or ``rest``."""

    observer: str
    since: datetime
    reason: str


class ConnectorSummaryList(_Entity):
    """All connectors the caller may see, by name; ``scheduler_silences`` is empty while Airflow answers."""

    connectors: list[ConnectorSummary]
    scheduler_silences: list[SchedulerSilence]


class TaskView(_Entity):
    """A task of a connector; ``trace`` while it is FAILED or RESTARTING."""

    task: int
    state: State
    worker_id: str
    version: str | None
    trace: str | None


class ConnectorOverview(ConnectorSummary):
    """One connector: its line, its tasks and where it lives. ``trace`` is the connector's own."""

    config_version: int
    planned_version: int | None
    created_at: datetime
    updated_at: datetime
    retry_at: datetime | None
    trace: str | None
    task_views: list[TaskView]
    dead_letter_topic: str | None
    topics: list[str]
    dag_url: str | None


class Counts(_Entity):
    """What was moved. ``fallbacks``: batches that went record by record."""

    records: int
    bytes: int
    skipped: int
    dropped: int
    fallbacks: int


class TopicRange(_Entity):
    """Offsets ``[start, end)`` of one topic partition."""

    topic: str
    partition: int
    start: int
    end: int


class SourceOffset(_Entity):
    """One offset in Connect's form."""

    partition: dict[str, Any]
    offset: dict[str, Any] | None


class SourceRange(_Entity):
    """Where a source's interval starts, and ends if the source declares a bound."""

    start: list[SourceOffset]
    upper: list[SourceOffset] | None


class IntervalView(_Entity):
    """One interval: what range, how much, how long, which attempt, where it ran.

    ``ranges`` of a sink, ``source`` of a source. ``seconds`` from start to end,
    or till now. ``run_url`` leads to the Airflow run; ``job_tag`` is the tag of
    the Spark job, ``spark_url`` where Spark shows its jobs, if known.
    """

    sequence: int
    state: IntervalWord
    reason: str | None
    config_version: int
    incarnation: int
    epoch: int
    ranges: list[TopicRange]
    source: SourceRange | None
    bound_time: datetime | None
    counts: Counts
    task_count: int
    attempts: int
    planned_at: datetime
    started_at: datetime
    ended_at: datetime | None
    seconds: float
    heartbeat_at: datetime | None
    run_id: str
    run_url: str | None
    job_tag: str
    spark_url: str | None
    worker_id: str


class IntervalPage(_Entity):
    """Intervals, the newest first; ``next``: pass it as ``before`` for the next page, null at the end."""

    intervals: list[IntervalView]
    next: int | None


class IntervalTaskView(_Entity):
    """One task of an interval: its last attempt. ``outcome`` is null while it runs."""

    task: int
    attempts: int
    outcome: Literal["DONE", "STALE", "UNCLEAR", "FAILED"] | None
    counts: Counts
    error_kind: str | None
    error_message: str | None
    trace: str | None
    is_retriable: bool
    worker_id: str
    started_at: datetime | None
    ended_at: datetime | None


class IntervalDetail(IntervalView):
    """An interval with its tasks."""

    tasks: list[IntervalTaskView]


class RunStarted(_Entity):
    """A run was asked for; ``run_id`` is null where it is not known yet."""

    run_id: str | None


class RewindRequest(_Entity):
    """``to``: the number of the first interval whose data is to be read again."""

    to: int = Field(ge=1)


class OffsetsPreviewRequest(_Entity):
    """Exactly one of: the interval to rewind to, all offsets forgotten, offsets as for PATCH."""

    to: int | None = Field(default=None, ge=1)
    reset: bool = False
    offsets: list[SourceOffset] | None = None


class OffsetChange(_Entity):
    """One partition: where it stands, where it would stand.

    ``again``: offsets of Kafka between the two that would be read again, below
    zero those skipped; null for sources, and where it begins where the topic begins.
    """

    partition: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    again: int | None


class OffsetsPreview(_Entity):
    """What a change of offsets would do; nothing has been done.

    ``intervals``: committed intervals whose data would be read again, newest
    first. ``records``: what those moved, null where history does not tell.
    ``obstacle``: why the change would be refused now, null if it would not.
    """

    changes: list[OffsetChange]
    intervals: list[int]
    records: int | None
    obstacle: str | None


class Rewound(_Entity):
    """The answer to a rewind: what was done, and what will be read again."""

    message: str
    preview: OffsetsPreview


class OffsetMoveView(_Entity):
    """One move of one offset. ``cause``: interval, repair, alter or reset."""

    id: int
    partition: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    cause: str
    actor: str | None
    sequence: int
    moved_at: datetime


class OffsetMoveList(_Entity):
    """Moves of offsets, the newest first; ``next`` as in a page of intervals."""

    moves: list[OffsetMoveView]
    next: int | None


class ConfigChange(_Entity):
    """One setting that differs from the version before; null where it was or is absent."""

    key: str
    before: str | None
    after: str | None


class ConfigVersionView(_Entity):
    """A configuration as it was stored, and what it changed."""

    version: int
    actor: str
    created_at: datetime
    config: dict[str, str | None]
    changes: list[ConfigChange]


class ConfigVersionList(_Entity):
    """Configurations of a connector, the newest first."""

    versions: list[ConfigVersionView]


class SkippedLine(_Entity):
    """Records of one task and interval skipped for one reason; ``sample``: where the first one lies."""

    sequence: int
    task: int
    stage: str
    error_kind: str
    message: str
    records: int
    sample: dict[str, Any]
    first_at: datetime
    last_at: datetime


class SkippedRecords(_Entity):
    """Skipped records, the newest first; ``records``: how many these lines are about."""

    lines: list[SkippedLine]
    records: int
    dead_letter_topic: str | None


class PartitionLag(_Entity):
    """How far a sink is behind in one partition; ``end`` is the last stable offset."""

    topic: str
    partition: int
    position: int
    end: int
    lag: int


class Lag(_Entity):
    """How far a connector is behind; ``lag`` null with the ``reason``, where it is not known."""

    lag: int | None
    partitions: list[PartitionLag]
    reason: str | None


class ActView(_Entity):
    """Who did what."""

    id: int
    actor: str
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    done_at: datetime


class ActList(_Entity):
    """Acts on a connector, the newest first."""

    acts: list[ActView]
