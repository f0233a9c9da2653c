"""Cached responses: limited in number and possibly in time, and requested only once by concurrent threads."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, TypeVar

from connect_core.errors import ConnectError
from connect_core.schema_registry.model import RegisteredSchema

__all__ = ["Remembered", "SingleFlight", "schema_size"]

Value = TypeVar("Value")
_MAX_BYTES = 128 << 20


def schema_size(schema: RegisteredSchema) -> int:
    """Return the approximate number of bytes of a schema, including its references."""
    return len(schema.schema.text) + sum(len(text.text) for _, text in schema.resolved) + 200


class Remembered(Generic[Value]):
    """The last ``size`` values, 128 MiB by ``weigh`` at most, each for ``seconds``; safe to use from any thread."""

    def __init__(
        self, size: int, seconds: float | None = None, weigh: Callable[[Value], int] = lambda value: 1
    ) -> None:
        self._size, self._seconds, self._weigh = size, seconds, weigh
        self._entries: OrderedDict[Hashable, tuple[Value, float, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return a cached value, or ``None``."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            value, since, _ = entry
            if self._seconds is not None and time.monotonic() - since >= self._seconds:
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Value) -> Value:
        """Cache and return a value; the least recently used ones are dropped for it."""
        weight = self._weigh(value)
        with self._lock:
            self._drop(key)
            self._entries[key] = value, time.monotonic(), weight
            self._bytes += weight
            while self._entries and (len(self._entries) > self._size or self._bytes > _MAX_BYTES):
                self._drop(next(iter(self._entries)))
        return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[2]


class SingleFlight:
    """Lets one thread make a request for a key while others that need it wait for its result."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def ask(self, key: Hashable, question: Callable[[], Value]) -> Value:
        """Return the result of a request, or raise its error, in each waiting thread."""
        while True:
            with self._lock:
                other = self._under_way.get(key)
                if other is None:
                    mine: Future[Any] = Future()
                    self._under_way[key] = mine
                    break
            try:
                answer: Value = other.result()
                return answer
            except CancelledError:
                # The requesting thread was cancelled for its own reasons: request again.
                continue
        return self._answer(key, mine, question)

    def _answer(self, key: Hashable, mine: Future[Any], question: Callable[[], Value]) -> Value:
        try:
            answer = question()
            mine.set_result(answer)
            return answer
        except ConnectError as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[key]
            mine.cancel()
