"""Calls of systems that may never answer, a bounded number of each kind at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import BoundedSemaphore, Thread
from typing import TypeVar

from connect_core.errors import RetriableError

__all__ = ["Attempts"]

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Attempts:
    """Calls of one kind, each in a thread of its own: one that hangs blocks neither the next nor the process's end.

    ``what`` names them in the error that is raised while ``limit`` of them have not returned.
    """

    what: str
    limit: int
    _free: BoundedSemaphore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_free", BoundedSemaphore(self.limit))

    def start(self, call: Callable[[], Answer]) -> Future[Answer]:
        """Start a call. Raises RetriableError, at once, when too many are running."""
        if not self._free.acquire(blocking=False):
            raise RetriableError(f"{self.limit} {self.what} are running: try again in a moment")
        future = Future[Answer]()
        Thread(target=self._run, args=(call, future), name=f"connect {self.what}", daemon=True).start()
        return future

    def _run(self, call: Callable[[], Answer], future: Future[Answer]) -> None:
        tell: Callable[[], None]
        try:
            tell = partial(future.set_result, call())
        except BaseException as error:
            tell = partial(future.set_exception, error)
        self._free.release()
        tell()
