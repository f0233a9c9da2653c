"""Sends several requests to a store at once, as each would otherwise wait for the previous response."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["for_each"]

Item = TypeVar("Item")


def for_each(items: Collection[Item], at_once: int, act: Callable[[Item], None]) -> None:
    """Act on every item, at most ``at_once`` at a time, in no particular order.

    Raises the first error in the order of the items, after all running actions have ended; no further ones are started.
    """
    if min(at_once, len(items)) < 2:
        for item in items:
            act(item)
        return
    with ThreadPoolExecutor(min(at_once, len(items)), "publish") as threads:
        # An error leaves this loop, which cancels the actions that have not started.
        for _ in threads.map(act, items):
            pass
