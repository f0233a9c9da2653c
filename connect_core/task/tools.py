"""The tools of a task, source or sink, made from its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from connect_core.api.flow import Flow
from connect_core.configs import ConnectorConfig, ErrorSettings, Redaction, providers_of, task_worker
from connect_core.interval.values import TaskPlan
from connect_core.java_plugins.redaction import redacting
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.heartbeat import TaskHeartbeat
from connect_core.settings import WorkerSettings
from connect_core.task.control import TaskControl
from connect_core.task.conversion import Converters
from connect_core.task.dead_letters import LettersOf
from connect_core.task.flow import gathered
from connect_core.task.pipeline import Pipeline
from connect_core.task.reporting import log_reporters
from connect_core.task.skipped import SkippedSummary
from connect_core.task.timeouts import Timeouts
from connect_core.task.tolerance import Tolerance, ToleranceSettings

__all__ = ["TaskTools", "heartbeat", "letters_of", "open_tools"]


@dataclass(frozen=True, slots=True)
class TaskTools:
    """What a task, source or sink, needs, made from its plan."""

    settings: WorkerSettings
    config: ConnectorConfig
    clients: KafkaClients
    control: TaskControl
    tolerance: Tolerance
    summary: SkippedSummary
    timeouts: Timeouts
    flow: Flow
    """The flow as configured."""
    task_config: Mapping[str, str]
    """The task's configuration as ``task_configs`` made it, references resolved."""

    @property
    def internal(self) -> frozenset[str]:
        """The internal topics, which are not for records."""
        own = self.config.offsets_topic
        return self.settings.internal_topics | ({own} if own else set())

    def converters_of(self, flow: Flow) -> Converters:
        """Return the converters of a flow."""
        return Converters(flow.key, flow.value, flow.header, self.tolerance)

    def pipeline_of(self, flow: Flow) -> Pipeline:
        """Return the transforms of a flow."""
        return Pipeline(gathered(flow.stages), self.tolerance)

    def new_task(self) -> Any:
        """Return a new task of the connector's task class."""
        return self.config.connector().task_class()()


def open_tools(plan: TaskPlan, environment: dict[str, str]) -> TaskTools:
    """Parse the plan's configurations and create the objects they name. Raises ConfigError."""
    settings = task_worker(plan.worker, environment)
    providers = providers_of(settings, environment)
    name = plan.key.connector
    redaction = Redaction(plan.connector_config, providers, name)
    with redacting(redaction.texts):
        config = ConnectorConfig.parse(plan.connector_config, settings, lambda raw: providers.resolve(raw, name), name)
        flow = replace(config.flow(), redact=redaction)
    clients = KafkaClients(settings.resolved, config.resolved, f"connect-{plan.key.connector}-{plan.task}")
    control = TaskControl(plan.caps, plan.key.connector)
    errors, summary = config.errors(), SkippedSummary()
    tolerance = Tolerance(
        _tolerance_settings(errors),
        (*log_reporters(plan.key.connector, plan.task, errors), summary),
        control.stopping,
        redaction,
    )
    task_config = providers.resolve(plan.task_config, plan.key.connector)
    timeouts = _timeouts(settings, config)
    return TaskTools(settings, config, clients, control, tolerance, summary, timeouts, flow, task_config)


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


@contextmanager
def heartbeat(plan: TaskPlan, tools: TaskTools) -> Iterator[None]:
    """Report progress and receive stop requests while the block runs."""
    topic = tools.settings.status_topic.name
    with TaskHeartbeat(tools.clients, topic, plan, tools.control.stopping) as started:
        tools.control.heartbeat = started
        yield


def letters_of(plan: TaskPlan, errors: ErrorSettings) -> LettersOf:
    """Return the origin and the topic of a task's dead letters."""
    return LettersOf(plan.key.connector, plan.task, errors.dead_letter_topic, errors.dead_letter_headers)
