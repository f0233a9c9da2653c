"""A source task from its plan to its result."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from connect_core.api.source import SourceTask
from connect_core.configs import ConnectorConfig
from connect_core.interval.values import TaskPlan, TaskResult
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.batch_limits import BatchLimits
from connect_core.kafka.dead_letters import ensure_dead_letter_topic
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic, check_start
from connect_core.kafka.topic_creation import SourceTopics
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions
from connect_core.settings.topics import check_free
from connect_core.task.contexts import PlannedOffsets, SourceContext, Transactions
from connect_core.task.dead_letters import SourceDeadLetters
from connect_core.task.failures import failed
from connect_core.task.flow import FlowSteps
from connect_core.task.source import SourceAttempt, TransactionBoundary
from connect_core.task.tools import TaskTools, heartbeat, letters_of, open_tools

__all__ = ["run_source"]

_SLACK_SECONDS = 60.0


def _letters(plan: TaskPlan, tools: TaskTools, writer: TransactionalWriter) -> SourceDeadLetters | None:
    errors = tools.config.errors()
    topic, factor = errors.dead_letter_topic, errors.dead_letter_replication_factor
    if not topic:
        return None
    check_free(topic, tools.internal)
    ensure = partial(ensure_dead_letter_topic, tools.clients, topic, factor)
    letters = SourceDeadLetters(letters_of(plan, errors), writer, tools.converters_of(tools.flow), ensure)
    tools.tolerance.add(letters)
    return letters


def run_source(plan: TaskPlan, base: TaskResult) -> TaskResult:
    """Run one attempt of a source task → its result. Raises ConnectError before its first transaction."""
    tools = open_tools(plan, dict(os.environ))
    assert plan.source is not None
    task: SourceTask = tools.new_task()
    flow = task.take_over(tools.flow)
    boundary = _boundary_of(tools.config)
    context = SourceContext(
        configs=tools.task_config,
        limits=tools.settings.limits(),
        offset_storage_reader=PlannedOffsets(plan.source.start),
        transaction_context=Transactions() if boundary.is_connectors else None,
        offset_states=plan.source.states,
        upper_bounds=plan.source.upper,
    )
    admin = KafkaAdmin(tools.clients)
    with heartbeat(plan, tools), _open_writer(plan, tools, task, admin) as writer:
        topics = SourceTopics(admin, tools.config.topic_creation(), tools.internal)
        attempt = SourceAttempt(
            task,
            context,
            tools.task_config,
            tools.converters_of(flow),
            tools.pipeline_of(flow),
            writer,
            topics,
            boundary,
            tools.control,
            tools.timeouts,
            tools.summary,
            _letters(plan, tools, writer),
            FlowSteps(tools.flow, tools.tolerance),
        )
        try:
            attempt.run()
        except Exception as error:
            # Committed transactions remain, whatever the outcome of the last one.
            return failed(_moved(base, attempt), plan, error)
    return replace(_moved(base, attempt), is_capped=attempt.is_capped() or tools.control.is_stopping)


def _moved(base: TaskResult, attempt: SourceAttempt) -> TaskResult:
    return replace(
        base,
        counts=attempt.counts(),
        source_offsets=attempt.offsets,
        topics=tuple(sorted(attempt.topics)),
        skipped=attempt.skipped,
    )


@contextmanager
def _open_writer(
    plan: TaskPlan, tools: TaskTools, task: SourceTask, admin: KafkaAdmin
) -> Iterator[TransactionalWriter]:
    """Return a writer that has fenced older attempts and found no newer one. Raises StaleEpochError."""
    assert plan.source is not None
    topic = tools.config.offsets_topic or tools.settings.offsets_topic.name
    key = plan.key
    stamp = MarkerStamp(key.epoch, key.incarnation, key.sequence, plan.task, plan.attempt_id)
    boundary = _boundary_of(tools.config)
    # The broker must not end a transaction that is merely long; for a connector's own, the user sets the limit.
    seconds = None if boundary.is_connectors else boundary.seconds + _SLACK_SECONDS
    options = WriterOptions(
        transaction_seconds=seconds,
        keeps_places=task.wants_places(tools.task_config),
        limits=BatchLimits(tools.clients, admin).of,
    )
    target = OffsetsTarget(topic, key.connector, stamp, plan.source.start)
    with TransactionalWriter(tools.clients, plan.transactional_id, target, options) as writer:
        writer.init()
        check_start(OffsetsTopic(tools.clients, topic).read(key.connector, plan.source.position), stamp)
        yield writer


def _boundary_of(config: ConnectorConfig) -> TransactionBoundary:
    """Return when transactions end: by size and time, by time only, or where the connector requests it.

    None ends between two records of one ``poll``, unless the connector requests it.
    """
    match config.transaction_boundary:
        case "connector":
            return TransactionBoundary(is_connectors=True)
        case "interval":
            return TransactionBoundary(None, config.transaction_interval_milliseconds / 1000)
        case _:
            return TransactionBoundary()
