"""What the protocol yields."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

__all__ = ["Effect"]

Answer_co = TypeVar("Answer_co", covariant=True)
"""The type of the result sent back for an effect."""


class Effect(Generic[Answer_co]):
    """One action on an outside system; ``yield from`` it returns its result, of the declared type."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, Answer_co]:
        """Yield the effect itself and return the result sent back."""
        answer: Answer_co = yield self
        return answer
