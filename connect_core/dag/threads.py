"""Blocking calls from the triggerer's event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_thread"]

Result = TypeVar("Result")
"""What the blocking call returns."""


async def in_thread(call: Callable[[], Result]) -> Result:
    """Await a blocking call in a separate daemon thread.

    Unlike an executor's thread, one that hangs for ever blocks neither other
    calls nor the exit of the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except BaseException as raised:
            error = raised
        if isinstance(error, SystemExit):
            # From here it would end the loop, and with it the waits of all connectors.
            error = RuntimeError(f"A plugin tried to end the process: SystemExit: {error}")
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="connect-watcher", daemon=True).start()
    return await future
