"""Requests to a store, several at once: one after the other each would wait for its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["for_each"]

Item = TypeVar("Item")


def for_each(items: Collection[Item], at_once: int, act: Callable[[Item], None]) -> None:
    """Act on every item, at most so many at once, in no certain order.

    Raises the first error in the order of the items, when no act is under way any more and no further one is begun.
    """
    if min(at_once, len(items)) < 2:
        for item in items:
            act(item)
        return
    with ThreadPoolExecutor(min(at_once, len(items)), "publish") as threads:
        # An error leaves this loop, which cancels what is not begun yet.
        for _ in threads.map(act, items):
            pass
