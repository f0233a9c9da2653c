"""Where tolerated failures go: the log and the dead letter topic (KIP-298)."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from connect_core.configs import ErrorSettings
from connect_core.run.tolerance import Failure, Reporter

__all__ = ["LogReporter", "log_reporters"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogReporter:
    """Writes a line for each failure; where the record lay only if messages are to be included.

    Connect: ``LogReporter``. Record values are never logged.
    """

    connector: str
    task: int
    includes_place: bool

    def report(self, failure: Failure) -> None:
        """Log one failure."""
        where = f" at {failure.place}" if self.includes_place else ""
        _LOG.error(
            "Error encountered in task %s-%d. Executing stage '%s' with class '%s'%s: %s",
            self.connector,
            self.task,
            failure.stage.value,
            failure.executing,
            where,
            failure.error,
        )


def log_reporters(connector: str, task: int, errors: ErrorSettings) -> tuple[Reporter, ...]:
    """Return the log reporter if ``errors.log.enable``."""
    return (LogReporter(connector, task, errors.log_include_messages),) if errors.log_enable else ()
