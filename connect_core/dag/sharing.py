"""The single watcher of a triggerer's event loop, alive while a trigger needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from connect_core.dag.threads import in_thread
from connect_core.dag.watcher import Watcher
from connect_core.dag.wiring import make_run_monitor, make_watcher

__all__ = ["shared_watcher"]

_LINGER_SECONDS = 30.0
"""Longer than it takes one run of housekeeping to follow another."""


class _Share:
    """A running watcher, and the number of triggers that use it."""

    def __init__(self) -> None:
        # Loading its clients takes a while: not in the triggerer's loop.
        self.watcher = asyncio.create_task(in_thread(make_watcher))
        self._run_monitor = asyncio.create_task(in_thread(make_run_monitor))
        self.users = 0
        self._work = asyncio.create_task(self._run(), name="connect-watcher")

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task((await self.watcher).work())
            group.create_task((await self._run_monitor).work())

    def leave(self) -> None:
        """Give up one use; the last one ends the watcher after a delay, or at once if it failed."""
        self.users -= 1
        if self._work.done():
            self._end_if_unused()
        elif not self.users:
            asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._end_if_unused)

    def _end_if_unused(self) -> None:
        loop = asyncio.get_running_loop()
        if not self.users and _SHARES.get(loop) is self:
            del _SHARES[loop]
            self._work.cancel()


_SHARES: WeakKeyDictionary[asyncio.AbstractEventLoop, _Share] = WeakKeyDictionary()


@asynccontextmanager
async def shared_watcher() -> AsyncIterator[Watcher]:
    """Use this event loop's watcher; the first user starts it. Raises ConfigError."""
    loop = asyncio.get_running_loop()
    share = _SHARES.get(loop)
    if share is None:
        share = _SHARES[loop] = _Share()
    share.users += 1
    try:
        yield await asyncio.shield(share.watcher)
    finally:
        share.leave()
