"""One attempt of one task: from its plan to its result, whatever happens in between."""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from connect_core.api.sink import IntervalContext, SinkTask
from connect_core.api.source import SourceTask
from connect_core.configs import ConnectorConfig, ErrorSettings, Redaction, providers_of, task_worker
from connect_core.errors import ConnectError, RetriableError, StaleEpochError, UnclearOutcomeError
from connect_core.interval.failpoints import reach
from connect_core.interval.values import ConnectorType, TaskError, TaskOutcome, TaskPlan, TaskResult
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.dead_letters import ensure_dead_letter_topic, open_dead_letter_queue
from connect_core.kafka.heartbeat import TaskHeartbeat
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic, check_start
from connect_core.kafka.reader import BoundedReader
from connect_core.kafka.topic_creation import SourceTopics
from connect_core.kafka.writer import OffsetsTarget, TransactionalWriter, WriterOptions
from connect_core.run.contexts import PlannedOffsets, SinkContext, SourceContext, Transactions
from connect_core.run.control import TaskControl
from connect_core.run.conversion import Converters
from connect_core.run.dead_letters import ErrantRecords, LettersOf, SinkDeadLetters, SourceDeadLetters
from connect_core.run.pipeline import Pipeline
from connect_core.run.reporting import log_reporters
from connect_core.run.shortage import is_shortage
from connect_core.run.sink_task import SinkRun, SinkWork
from connect_core.run.skipped import SkippedSummary
from connect_core.run.source_task import SourceRun, SourceWork, TransactionBoundary
from connect_core.run.timeouts import Timeouts
from connect_core.run.tolerance import Tolerance, ToleranceSettings, class_name
from connect_core.settings import WorkerSettings
from connect_core.settings.topics import check_free

__all__ = ["run_task"]

_SLACK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Equipment:
    """What a task of either kind needs, made from its plan."""

    settings: WorkerSettings
    config: ConnectorConfig
    clients: KafkaClients
    control: TaskControl
    tolerance: Tolerance
    summary: SkippedSummary
    timeouts: Timeouts
    converters: Converters
    pipeline: Pipeline
    task_config: Mapping[str, str]
    """As ``task_configs`` made it, references resolved."""

    @property
    def internal(self) -> frozenset[str]:
        """The topics that are not for records."""
        own = self.config.offsets_topic
        return self.settings.internal_topics | ({own} if own else set())


def run_task(plan: TaskPlan) -> TaskResult:
    """Run one attempt and report; never raises: a lost result would say nothing."""
    started = datetime.now(UTC)
    base = TaskResult(plan.task, TaskOutcome.DONE, host=socket.gethostname(), pid=os.getpid(), started=started)
    run = _run_source if plan.type is ConnectorType.SOURCE else _run_sink
    try:
        reach("K3", plan.key.connector)
        result = run(plan, base)
    except Exception as error:
        result = _failed(base, _redaction_of(plan).clean(error))
    return replace(result, ended=datetime.now(UTC))


def _failed(base: TaskResult, error: BaseException) -> TaskResult:
    return replace(base, outcome=_outcome_of(error), error=_error_of(error))


def _redaction_of(plan: TaskPlan) -> Redaction:
    """Return what takes the connector's secrets out of an error, however far the task has come."""
    environment = dict(os.environ)
    try:
        providers = providers_of(task_worker(plan.worker, environment), environment)
    except ConnectError:
        # Nothing was resolved, so there is nothing that the error could tell.
        return Redaction()
    return Redaction(plan.connector_config, providers, plan.key.connector)


def _outcome_of(error: BaseException) -> TaskOutcome:
    if isinstance(error, StaleEpochError):
        return TaskOutcome.STALE
    return TaskOutcome.UNCLEAR if isinstance(error, UnclearOutcomeError) else TaskOutcome.FAILED


def _error_of(error: BaseException) -> TaskError:
    trace = "".join(traceback.format_exception(error))
    return TaskError(class_name(error), str(error), trace, isinstance(error, RetriableError) or is_shortage(error))


def _equip(plan: TaskPlan, environment: dict[str, str]) -> _Equipment:
    settings = task_worker(plan.worker, environment)
    providers = providers_of(settings, environment)
    config = ConnectorConfig.parse(
        plan.connector_config, settings, lambda raw: providers.resolve(raw, plan.key.connector)
    )
    clients = KafkaClients(settings.resolved, config.resolved, f"connect-{plan.key.connector}-{plan.task}")
    control = TaskControl(plan.caps, plan.key.connector)
    errors, summary = config.errors(), SkippedSummary()
    tolerance = Tolerance(
        _tolerance_settings(errors),
        (*log_reporters(plan.key.connector, plan.task, errors), summary),
        control.stopping,
        Redaction(plan.connector_config, providers, plan.key.connector),
    )
    converters = Converters(config.key_converter(), config.value_converter(), config.header_converter(), tolerance)
    pipeline = Pipeline(config.transformation_stages(), tolerance)
    task_config = providers.resolve(plan.task_config, plan.key.connector)
    timeouts = _timeouts(settings, config)
    return _Equipment(
        settings, config, clients, control, tolerance, summary, timeouts, converters, pipeline, task_config
    )


def _tolerance_settings(errors: ErrorSettings) -> ToleranceSettings:
    return ToleranceSettings(
        errors.is_tolerant,
        errors.retry_timeout / 1000,
        errors.retry_delay_max / 1000,
        errors.max_count,
        errors.max_share,
    )


def _timeouts(settings: WorkerSettings, config: ConnectorConfig) -> Timeouts:
    return Timeouts(
        hook_seconds=config.values["hook.timeout.ms"] / 1000,
        flush_seconds=settings.values["offset.flush.interval.ms"] / 1000,
        stop_seconds=settings.values["task.shutdown.graceful.timeout.ms"] / 1000,
    )


def _new_task(config: ConnectorConfig) -> Any:
    return config.connector().task_class()()


def _run_sink(plan: TaskPlan, base: TaskResult) -> TaskResult:
    tools = _equip(plan, dict(os.environ))
    task: SinkTask = _new_task(tools.config)
    letters = _sink_letters(plan, tools)
    reporter = ErrantRecords(tools.tolerance, task, tools.converters, letters)
    context = SinkContext(
        configs=tools.task_config,
        limits=tools.settings.limits(),
        assignment=[part.topic_partition for part in plan.ranges],
        interval=IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id, plan.times.bound),
        errant_record_reporter=reporter if tools.config.errors().has_reporter else None,
    )
    work = SinkWork(
        task,
        context,
        context.configs,
        tools.converters,
        tools.pipeline,
        plan.staged_commit,
        tools.timeouts,
        tools.summary,
        letters,
        plan.times,
    )
    run = SinkRun(work, tools.control)
    with _heartbeat(plan, tools):
        run.run(lambda: BoundedReader(tools.clients, plan.ranges, stop=tools.control.stopping))
    return replace(
        base,
        counts=run.counts(),
        positions=run.positions,
        staged=run.staged,
        topics=tuple(sorted(run.topics)),
        skipped=run.skipped(),
        is_capped=run.is_capped() or tools.control.is_stopping,
    )


def _letters_of(plan: TaskPlan, errors: ErrorSettings) -> LettersOf:
    return LettersOf(plan.key.connector, plan.task, errors.dead_letter_topic, errors.dead_letter_headers)


def _sink_letters(plan: TaskPlan, tools: _Equipment) -> SinkDeadLetters | None:
    errors = tools.config.errors()
    topic, factor, has_context = (
        errors.dead_letter_topic,
        errors.dead_letter_replication_factor,
        errors.dead_letter_headers,
    )
    if not topic:
        return None
    check_free(topic, tools.internal)
    letters = SinkDeadLetters(
        _letters_of(plan, errors), lambda: open_dead_letter_queue(tools.clients, topic, factor, has_context)
    )
    tools.tolerance.add(letters)
    return letters


def _source_letters(plan: TaskPlan, tools: _Equipment, writer: TransactionalWriter) -> SourceDeadLetters | None:
    errors = tools.config.errors()
    topic, factor = errors.dead_letter_topic, errors.dead_letter_replication_factor
    if not topic:
        return None
    check_free(topic, tools.internal)
    ensure = partial(ensure_dead_letter_topic, tools.clients, topic, factor)
    letters = SourceDeadLetters(_letters_of(plan, errors), writer, tools.converters, ensure)
    tools.tolerance.add(letters)
    return letters


def _run_source(plan: TaskPlan, base: TaskResult) -> TaskResult:
    tools = _equip(plan, dict(os.environ))
    assert plan.source is not None
    task: SourceTask = _new_task(tools.config)
    boundary = _boundary_of(tools.config)
    context = SourceContext(
        configs=tools.task_config,
        limits=tools.settings.limits(),
        offset_storage_reader=PlannedOffsets(plan.source.start),
        transaction_context=Transactions() if boundary.is_connectors else None,
        offset_states=plan.source.states,
        upper_bounds=plan.source.upper,
    )
    with _heartbeat(plan, tools), _open_writer(plan, tools, task) as writer:
        topics = SourceTopics(KafkaAdmin(tools.clients), tools.config.topic_creation(), tools.internal)
        work = SourceWork(
            task,
            context,
            tools.task_config,
            tools.converters,
            tools.pipeline,
            writer,
            topics,
            boundary,
            tools.timeouts,
            tools.summary,
            _source_letters(plan, tools, writer),
        )
        run = SourceRun(work, tools.control)
        try:
            run.run()
        except Exception as error:
            # Transactions that have committed stand, whatever became of the last one.
            return _failed(_moved(base, run), _redaction_of(plan).clean(error))
    return replace(_moved(base, run), is_capped=run.is_capped() or tools.control.is_stopping)


def _moved(base: TaskResult, run: SourceRun) -> TaskResult:
    return replace(
        base,
        counts=run.counts(),
        source_offsets=run.offsets,
        topics=tuple(sorted(run.topics)),
        skipped=run.skipped,
    )


@contextmanager
def _heartbeat(plan: TaskPlan, tools: _Equipment) -> Iterator[None]:
    """Report progress while the block runs, and hear when to stop."""
    topic = tools.settings.status_topic.name
    with TaskHeartbeat(tools.clients, topic, plan, tools.control.stopping) as heartbeat:
        tools.control.heartbeat = heartbeat
        yield


@contextmanager
def _open_writer(plan: TaskPlan, tools: _Equipment, task: SourceTask) -> Iterator[TransactionalWriter]:
    """Return a writer that has fenced older attempts and seen no newer one. Raises StaleEpochError."""
    assert plan.source is not None
    topic = tools.config.offsets_topic or tools.settings.offsets_topic.name
    key = plan.key
    stamp = MarkerStamp(key.epoch, key.incarnation, key.sequence, plan.task, plan.attempt_id)
    boundary = _boundary_of(tools.config)
    # The broker must not end a transaction that is merely long; how long a connector's may be is its user's to say.
    seconds = None if boundary.is_connectors else boundary.seconds + _SLACK_SECONDS
    options = WriterOptions(
        transaction_seconds=seconds,
        keeps_places=type(task).commit_record is not SourceTask.commit_record,
    )
    target = OffsetsTarget(topic, key.connector, stamp, plan.source.start)
    with TransactionalWriter(tools.clients, plan.transactional_id, target, options) as writer:
        writer.init()
        check_start(OffsetsTopic(tools.clients, topic).read(key.connector, plan.source.position), stamp)
        yield writer


def _boundary_of(config: ConnectorConfig) -> TransactionBoundary:
    """Return when transactions end: by size and time, by time only, or where the connector says.

    None of them ends between two records of one ``poll``, unless the connector wants it.
    """
    match config.transaction_boundary:
        case "connector":
            return TransactionBoundary(is_connectors=True)
        case "interval":
            return TransactionBoundary(None, config.transaction_interval_milliseconds / 1000)
        case _:
            return TransactionBoundary()
