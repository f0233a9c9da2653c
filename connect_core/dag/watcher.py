"""One watcher per triggerer: wakes each waiting connector when there is something to do."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

from connect_core.dag.threads import in_thread
from connect_core.errors import ConnectError
from connect_core.interval.waits import Check, WaitState

__all__ = ["DataProbe", "Reconciler", "Watcher"]

_LOG = logging.getLogger(__name__)
_SLOW_SECONDS = 5.0
_HUNG_SECONDS = 60.0
_ASKED_AT_ONCE = 8
_ASSIGNED_AT_ONCE = 4
"""Assigning is CPU-bound; more threads would only keep this process from waking connectors with data."""
_STARTS_AT_ONCE = 16
_START_SECONDS = 60.0
"""After this time a run that was requested and has not been seen is requested again."""
_UNKNOWN_HOLD_TICKS = 5
"""While Airflow's answer is slow: a crashing connector must not restart at once, nor data be delayed for long."""
_REST_AFTER_WORK = 2.0
"""Pause between requests to Airflow, as a multiple of their duration: a large deployment must not keep it busy."""


class DataProbe(Protocol):
    """Looks for work of waiting connectors; its calls may block."""

    def wait_states(self, connectors: Sequence[str]) -> Mapping[str, WaitState]:
        """Return the state of each, by one query; deleted ones are left out."""

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Return the sinks with records to read, by one batched ``list_offsets``."""

    def assign(self, connector: str) -> bool:
        """Assign the tasks of a connector that needs nothing else → whether a run has to do it instead."""

    def source_has_data(self, connector: str) -> bool:
        """Return whether ``SourceConnector.latest`` is beyond the committed offsets."""


class Reconciler(Protocol):
    """Work done for all connectors, waiting or not; its calls may block."""

    def observe(self) -> None:
        """Mirror Airflow's pause flags into the database."""

    def holds(self, names: Collection[str]) -> Mapping[str, float]:
        """Return for how many seconds to hold back connectors whose latest runs failed."""

    def services(self) -> Sequence[Callable[[], None]]:
        """Return functions that carry out requests in the database, each to be called repeatedly."""


@dataclass(frozen=True, slots=True)
class _Woken:
    """When a run was requested, and the time of the last commit by then."""

    at: float
    committed_at: datetime | None


class Watcher:
    """Serves all waits of one event loop with a few blocking calls a second."""

    def __init__(
        self, probe: DataProbe, reconciler: Reconciler, tick_seconds: float = 1.0, starts_at_once: int = _STARTS_AT_ONCE
    ) -> None:
        self._probe = probe
        self._reconciler = reconciler
        self._tick_seconds = tick_seconds
        self._waits: dict[str, set[asyncio.Future[None]]] = defaultdict(set)
        self._since: dict[str, float] = {}
        self._unknown_since: dict[str, float] = {}
        self._woken: dict[str, _Woken] = {}
        self._commits: dict[str, datetime | None] = {}
        self._starts_at_once = starts_at_once
        self._starting: dict[str, float] = {}
        self._held_until: dict[str, float] = {}
        self._is_scheduler_silent = False
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._left_to_runs: set[str] = set()
        self._asking = asyncio.Semaphore(_ASKED_AT_ONCE)
        self._assigning = asyncio.Semaphore(_ASSIGNED_AT_ONCE)

    async def wait(self, connector: str) -> None:
        """Wait until the connector has something to do and none of its runs is in progress or requested."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits[connector].add(future)
        if connector not in self._woken:
            self._begin_wait(connector)
        try:
            await future
        except asyncio.CancelledError:
            # Airflow drops the watch, and the event, of a paused DAG: the next watch starts over.
            self._woken.pop(connector, None)
            raise
        finally:
            self._waits[connector].discard(future)
            if not self._waits[connector]:
                self._end_wait(connector)

    def _begin_wait(self, connector: str) -> None:
        self._since.setdefault(connector, time.monotonic())
        self._unknown_since.setdefault(connector, time.monotonic())

    def _end_wait(self, connector: str) -> None:
        del self._waits[connector]
        self._since.pop(connector, None)
        self._unknown_since.pop(connector, None)
        self._held_until.pop(connector, None)
        self._left_to_runs.discard(connector)

    async def work(self) -> None:
        """Serve until cancelled. A blocking call that hangs delays only calls of its own kind."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._look_for_data))
            group.create_task(self._repeat(self._learn_holds))
            group.create_task(self._repeat(self._observe, _REST_AFTER_WORK))
            for service in self._reconciler.services():
                group.create_task(self._repeat(partial(in_thread, service)))

    async def _repeat(self, act: Callable[[], Awaitable[None]], rest: float = 0.0) -> None:
        """Act at every tick; with ``rest``, pause at least that many times the duration of the last act."""
        while True:
            started = time.monotonic()
            try:
                await act()
            except Exception as error:
                trace = None if isinstance(error, ConnectError) else error
                _LOG.warning("The watcher continues after an error: %s", error, exc_info=trace)
            took = time.monotonic() - started
            await asyncio.sleep(max(0.0, self._tick_seconds - took, rest * took))

    async def _observe(self) -> None:
        await in_thread(self._reconciler.observe)

    async def _look_for_data(self) -> None:
        names = sorted(self._waits)
        if not names:
            return
        wait_states = await in_thread(lambda: self._probe.wait_states(names))
        self._release_restarted(wait_states)
        self._follow_runs(wait_states)
        by_check: dict[Check, list[str]] = defaultdict(list)
        for name, state in wait_states.items():
            if name in self._since and not state.is_running and self._held(name) <= time.monotonic():
                by_check[state.check].append(name)
        due = [name for name in by_check[Check.POLL] if self._waited(name) >= wait_states[name].poll_seconds]
        self._start_some([*by_check[Check.NOW], *self._left_to_runs.intersection(by_check[Check.ASSIGN])])
        self._wake_all(due)
        for name in set(by_check[Check.ASSIGN]) - self._left_to_runs - set(self._asked):
            self._asked[name] = asyncio.create_task(self._assign(name))
        for name in set(by_check[Check.LATEST]) - set(self._asked):
            self._asked[name] = asyncio.create_task(self._ask_source(name))
        if sinks := by_check[Check.SINK]:
            self._wake_all(await in_thread(lambda: self._probe.sinks_with_data(sinks)))

    async def _learn_holds(self) -> None:
        """Keep connectors whose runs fail, for any reason, from starting runs in a hot loop.

        When a hold expires, the scheduler is asked again, as the run may have failed meanwhile. Looking for data waits
        for the scheduler's answer for a few ticks at most.
        """
        now = time.monotonic()
        for name in [name for name, until in self._held_until.items() if 0.0 < until <= now]:
            del self._held_until[name]
            self._unknown_since[name] = now
        began = {name: since for name, since in self._unknown_since.items() if name not in self._held_until}
        if not began:
            return
        try:
            holds = await in_thread(lambda: self._reconciler.holds(list(began)))
        except Exception:
            self._is_scheduler_silent = True
            raise
        self._is_scheduler_silent = False
        for name, since in began.items():
            if self._unknown_since.get(name) == since and name not in self._held_until:
                self._hold(name, holds.get(name, 0.0))

    def _held(self, name: str) -> float:
        """Return until when the connector is held back: a few ticks, while it is unknown whether its runs fail."""
        until = self._held_until.get(name)
        if self._is_scheduler_silent:
            return until or 0.0
        if until is not None:
            # An expired hold may be followed by another: wait until the scheduler was asked again.
            return until if until == 0.0 or until > time.monotonic() else math.inf
        return self._unknown_since.get(name, 0.0) + _UNKNOWN_HOLD_TICKS * self._tick_seconds

    def _release_restarted(self, wait_states: Mapping[str, WaitState]) -> None:
        """Release connectors seen blocked: once they no longer are, they were restarted or reconfigured."""
        for name, state in wait_states.items():
            if state.check is Check.NEVER:
                self._hold(name, 0.0)

    def _follow_runs(self, wait_states: Mapping[str, WaitState]) -> None:
        """Let woken connectors wait again whose run has ended, or will not come, as that of a paused DAG."""
        now = time.monotonic()
        self._commits = {name: state.committed_at for name, state in wait_states.items()}
        for name in self._woken.keys() & self._waits.keys() & wait_states.keys():
            woken, state = self._woken[name], wait_states[name]
            if state.is_running:
                continue
            is_over = state.since_run is not None and state.since_run < now - woken.at
            if is_over or state.check is Check.NEVER or woken.at < now - _START_SECONDS:
                del self._woken[name]
                self._starting.pop(name, None)
                self._begin_wait(name)
                if state.committed_at != woken.committed_at:
                    # The run committed, so it did not fail: Airflow need not be asked.
                    self._hold(name, 0.0)

    def _hold(self, name: str, seconds: float) -> None:
        if name in self._waits:
            self._held_until[name] = time.monotonic() + seconds if seconds else 0.0

    def _start_some(self, due: Sequence[str]) -> None:
        """Wake connectors to be planned, a few at a time: a burst must not take every slot from those with data.

        One that waits again, or was woken long ago, makes room for the next: the one that has waited longest.
        """
        now = time.monotonic()
        self._starting = {name: at for name, at in self._starting.items() if at > now - _START_SECONDS}
        free = max(0, self._starts_at_once - len(self._starting))
        for name in sorted(due, key=self._waited, reverse=True)[:free]:
            self._starting[name] = now
            self._wake(name)

    async def _assign(self, name: str) -> None:
        """Assign one connector's tasks here: else each of a burst of new ones takes a run, only to find no data."""
        if await self._ask(self._assigning, name, "assign", lambda: self._probe.assign(name)) and name in self._waits:
            self._left_to_runs.add(name)

    async def _ask_source(self, name: str) -> None:
        """Check one source for data, and wake its connector if there is some."""
        if await self._ask(self._asking, name, "latest()", lambda: self._probe.source_has_data(name)):
            self._wake(name)

    async def _ask(self, slots: asyncio.Semaphore, name: str, what: str, call: Callable[[], bool]) -> bool:
        """Make a call that may run a connector's code → its result; true if it hangs or fails, for a run to report it.

        A call that hangs gives up its slot.
        """
        asked: asyncio.Future[bool] | None = None
        try:
            async with slots:
                asked = asyncio.ensure_future(in_thread(call))
                await asyncio.wait({asked}, timeout=_SLOW_SECONDS)
            if not asked.done():
                _LOG.warning("Connector %s: %s has not responded for %.0f s", name, what, _SLOW_SECONDS)
                await asyncio.wait({asked}, timeout=_HUNG_SECONDS)
            return not asked.done() or asked.result()
        except Exception as error:
            _LOG.warning("Connector %s: %s failed: %s", name, what, error)
            await asyncio.sleep(_SLOW_SECONDS)
            return True
        finally:
            if asked is not None:
                asked.cancel()
            del self._asked[name]

    def _waited(self, connector: str) -> float:
        return time.monotonic() - self._since.get(connector, time.monotonic())

    def _wake_all(self, connectors: Collection[str]) -> None:
        for connector in connectors:
            self._wake(connector)

    def _wake(self, connector: str) -> None:
        for future in self._waits.get(connector, ()):
            if not future.done():
                future.set_result(None)
                self._woken[connector] = _Woken(time.monotonic(), self._commits.get(connector))
