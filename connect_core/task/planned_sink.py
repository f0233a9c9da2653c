"""A sink task from its plan to its result."""

from __future__ import annotations

import os
from dataclasses import replace

from connect_core.api.sink import IntervalContext, SinkTask
from connect_core.interval.values import TaskPlan, TaskResult
from connect_core.kafka.dead_letters import open_dead_letter_queue
from connect_core.kafka.reader import BoundedReader
from connect_core.settings.topics import check_free
from connect_core.task.contexts import SinkContext
from connect_core.task.dead_letters import ErrantRecords, SinkDeadLetters
from connect_core.task.flow import FlowSteps
from connect_core.task.sink import SinkAttempt
from connect_core.task.tools import TaskTools, heartbeat, letters_of, open_tools

__all__ = ["run_sink"]


def run_sink(plan: TaskPlan, base: TaskResult) -> TaskResult:
    """Run one attempt of a sink task → its result. Raises ConnectError, and whatever the plugin raises."""
    tools = open_tools(plan, dict(os.environ))
    task: SinkTask = tools.new_task()
    steps = FlowSteps(tools.flow, tools.tolerance)
    flow = task.take_over(replace(tools.flow, fail=steps.fail_read))
    letters = _letters(plan, tools)
    reporter = ErrantRecords(tools.tolerance, task, tools.converters_of(tools.flow), letters)
    context = SinkContext(
        configs=tools.task_config,
        limits=tools.settings.limits(),
        assignment=[part.topic_partition for part in plan.ranges],
        interval=IntervalContext(plan.key, plan.ranges, plan.columns, plan.attempt_id, plan.times.bound),
        errant_record_reporter=reporter if tools.config.errors().has_reporter else None,
    )
    attempt = SinkAttempt(
        task,
        context,
        tools.task_config,
        tools.converters_of(flow),
        tools.pipeline_of(flow),
        plan.staged_commit,
        tools.control,
        tools.timeouts,
        tools.summary,
        letters,
        plan.times,
    )
    with heartbeat(plan, tools):
        attempt.run(lambda: BoundedReader(tools.clients, plan.ranges, stop=tools.control.stopping))
    return replace(
        base,
        counts=attempt.counts(),
        positions=attempt.positions,
        staged=attempt.staged,
        topics=tuple(sorted(attempt.topics)),
        skipped=attempt.skipped(),
        is_capped=attempt.is_capped() or tools.control.is_stopping,
    )


def _letters(plan: TaskPlan, tools: TaskTools) -> SinkDeadLetters | None:
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
        letters_of(plan, errors), lambda: open_dead_letter_queue(tools.clients, topic, factor, has_context)
    )
    tools.tolerance.add(letters)
    return letters
