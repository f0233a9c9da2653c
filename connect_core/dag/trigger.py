"""The waits of deferred runs: light, all served by the triggerer's one watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TaskSuccessEvent, TriggerEvent

from connect_core.dag.sharing import shared_watcher
from connect_core.dag.watcher import Wake

__all__ = ["ConnectorWaitTrigger", "WatcherTrigger", "is_asked"]

_SCHEDULED = "scheduled"
_SWEEP_SECONDS = 3600.0


def is_asked(run_type: str, try_number: int) -> bool:
    """Say whether somebody or a retry wants this run now: it must not wait for data."""
    return getattr(run_type, "value", run_type) != _SCHEDULED or try_number > 1


class ConnectorWaitTrigger(BaseTrigger):
    """Hold a run of an idle ``@continuous`` DAG until there is something to do.

    It ends without a task start (and so without asset events) when another run
    of the DAG is queued behind it: Airflow allows one active run. For
    ``pause_seconds`` it does not look, while another holder has the connector.
    """

    def __init__(self, connector: str, pause_seconds: float = 0.0) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.connector = connector
        self.pause_seconds = pause_seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class path and the arguments."""
        arguments = {"connector": self.connector, "pause_seconds": self.pause_seconds}
        return f"{type(self).__module__}.{type(self).__qualname__}", arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Wait and yield one event."""
        if self._is_asked():
            yield TriggerEvent({"reason": "asked"})  # type: ignore[no-untyped-call]
            return
        async with shared_watcher() as watcher:
            wake = await watcher.wait(self.connector, self.pause_seconds)
        if wake is Wake.YIELD:
            yield TaskSuccessEvent()
        else:
            yield TriggerEvent({"reason": wake.value})  # type: ignore[no-untyped-call]

    def _is_asked(self) -> bool:
        instance: Any = self.task_instance
        return is_asked(instance.get_template_context()["dag_run"].run_type, instance.try_number)


class WatcherTrigger(BaseTrigger):
    """Keep the watcher alive; end the run once an hour, so that the next one sweeps."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class path; there are no arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Hold the watcher for an hour."""
        async with shared_watcher():
            await asyncio.sleep(_SWEEP_SECONDS)
        yield TaskSuccessEvent()
