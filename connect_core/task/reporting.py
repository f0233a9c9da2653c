"""Failures in the log (KIP-298)."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from connect_core.api.records import SourceRecord
from connect_core.configs import ErrorSettings
from connect_core.registry import registry
from connect_core.task.tolerance import Failure, Reporter, Step

__all__ = ["LogReporter", "executing_class", "log_reporters"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogReporter:
    """Writes a line for each failure; it identifies the record only if messages are to be included.

    A record read from Kafka is identified by its place, a source's record is shown in full. Connect: ``LogReporter``,
    ``ProcessingContext.toString``.
    """

    connector: str
    task: int
    includes_record: bool

    def report(self, failure: Failure) -> None:
        """Log one failure."""
        step = failure.step
        _LOG.error(
            "Error encountered in task %s-%d. Executing stage '%s' with class '%s'%s.",
            self.connector,
            self.task,
            step.stage.value,
            executing_class(step),
            _record_of(step) if self.includes_record else "",
            exc_info=failure.error,
        )


def executing_class(step: Step) -> str:
    """Return the class whose operation failed, by the name that users write."""
    return registry().name_of(type(step.executing))


def log_reporters(connector: str, task: int, errors: ErrorSettings) -> tuple[Reporter, ...]:
    """Return the log reporter if ``errors.log.enable``."""
    return (LogReporter(connector, task, errors.log_include_messages),) if errors.log_enable else ()


def _record_of(step: Step) -> str:
    if isinstance(step.record, SourceRecord):
        return f", where source record is = {step.record}"
    return f", where the record is at {step.place}"
