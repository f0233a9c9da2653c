"""Performing a protocol: each yielded effect is handed to the handler of its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from connect_core.interval.effects import Effect
from connect_core.interval.failpoints import pass_effect
from connect_core.plan.run import Steps

__all__ = ["Handlers", "perform"]

Result = TypeVar("Result")
"""What the protocol returns."""

Handlers = Mapping[type[Effect[Any]], Callable[[Any], Any]]
"""The performer of each effect type."""


def perform(steps: Steps[Result], handlers: Handlers) -> Result:
    """Run a protocol to its end and return its result.

    A handler's error is thrown into the protocol at the effect, so that it may be
    handled there; an unhandled error is raised here.
    """
    try:
        effect = next(steps)
        while True:
            try:
                pass_effect(effect)
                answer = handlers[type(effect)](effect)
            except Exception as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result
