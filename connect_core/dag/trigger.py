"""The triggers: lightweight waits in the triggerer, all served by its single watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseEventTrigger, BaseTrigger, TaskSuccessEvent, TriggerEvent

from connect_core.dag.sharing import shared_watcher

__all__ = ["WatcherTrigger", "WorkTrigger"]

_SWEEP_SECONDS = 3600.0


class WorkTrigger(BaseEventTrigger):
    """Send Airflow an event each time a ``@continuous`` connector has something to do.

    It watches the asset that schedules the DAG: each event is a run, at most one of which waits for another to end.
    """

    def __init__(self, connector: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.connector = connector

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class path and the arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"connector": self.connector}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield an event whenever there is something to do and no run is in progress; never ends."""
        async with shared_watcher() as watcher:
            while True:
                await watcher.wait(self.connector)
                yield TriggerEvent({"connector": self.connector})  # type: ignore[no-untyped-call]


class WatcherTrigger(BaseTrigger):
    """Keep the watcher alive; end the run once an hour, so that the next one sweeps."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class path; there are no arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Keep the watcher alive for an hour."""
        async with shared_watcher():
            await asyncio.sleep(_SWEEP_SECONDS)
        yield TaskSuccessEvent()
