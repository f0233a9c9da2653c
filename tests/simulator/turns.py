"""Production code as an act of several steps: it hands over before each operation on its storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

from connect_core.errors import RetriableError
from tests.simulator.targets import Acting

__all__ = ["in_turns", "turn"]

Answer = TypeVar("Answer")


def in_turns(point: str, act: Callable[[], Any]) -> Acting:
    """Act, and yield the point before each operation of it but the first: whoever yields may never go on."""
    running = greenlet(act)
    answer = running.switch()
    if not running.dead:
        # The first operation is the act itself, whose fault was asked for.
        answer = running.switch(None)
    while not running.dead:
        answer = running.switch((yield point))
    return answer


def turn(operation: Callable[[], Answer]) -> Answer:
    """Hand over, then do one operation; a lost message loses the request, or the answer alone.

    Raises RetriableError for what was lost. Outside of ``in_turns`` there is nobody to hand over to.
    """
    others = getcurrent().parent
    fault = None if others is None else others.switch()
    if fault == "lost request":
        raise RetriableError("the storage was never asked")
    answer = operation()
    if fault is not None:
        raise RetriableError("the storage's answer was lost")
    return answer
