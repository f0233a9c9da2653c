"""Waiting for connectors, with the name of those that are pending."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from connect_core.cli.examples import failure_of
from connect_core.dev.stack import Report
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.status import ConnectorStatus, list_statuses

__all__ = ["ConnectorWaiter"]

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class ConnectorWaiter:
    """Waits until none of some connectors is pending; a failed one ends the wait at once."""

    herder: Herder
    names: Collection[str]
    report: Report

    def wait(self, what: str, pending: Callable[[], Collection[str]], seconds: float) -> None:
        """Wait until no connector is pending. Raise ConnectError naming those that are, their states and traces."""
        began = time.monotonic()
        while left := pending():
            waited = time.monotonic() - began
            statuses = list_statuses(self.herder, self.names)
            failures = [failure for status in statuses.values() if (failure := failure_of(status)) is not None]
            if failures:
                raise ConnectError("\n".join(failures))
            if waited > seconds:
                states = "; ".join(_state(statuses[name]) for name in left if name in statuses)
                raise ConnectError(
                    f"Timed out after {seconds:.0f} s waiting for {what}: {states}."
                    " See the log of the connector's task in Airflow, and `connect dev status`."
                )
            self.report.show(f"waiting for {what}: {', '.join(left)} ({waited:.0f} s)")
            time.sleep(_POLL_SECONDS)


def _state(status: ConnectorStatus) -> str:
    tasks = ", ".join(f"task {task.task} {task.state.value}" for task in status.tasks) or "no task yet"
    stalled = f", stalled: {status.stall.reason}" if status.stall else ""
    return f"connector {status.name} is {status.connector.state.value}{stalled} ({tasks})"
