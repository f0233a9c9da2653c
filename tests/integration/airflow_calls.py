"""Counts what is asked of Airflow's API: a proxy between connect-core's processes and the API server."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.proxy import Proxy, Watch

_METHODS = (b"GET ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ")


@dataclass(frozen=True, slots=True)
class Calls:
    """Requests of some time: how many, how many in the worst second, how many under way at once."""

    count: int
    a_second: float
    worst_second: int
    at_once: int


class AirflowCalls:
    """Every connection to ``port`` goes to the server's port; requests of HTTP/1.1 are counted on the way."""

    def __init__(self, target: Callable[[], int]) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._forget()
        self.port = Proxy(target, lambda: _Requests(self._note)).port

    def since_last(self) -> Calls:
        """Return what was asked since this was last called."""
        with self._lock:
            took = time.monotonic() - self._began
            count = sum(self._by_second.values())
            told = Calls(count, count / took, max(self._by_second.values(), default=0), self._at_once)
            self._forget()
        return told

    def _forget(self) -> None:
        self._began = time.monotonic()
        self._by_second: Counter[int] = Counter()
        self._at_once = self._under_way

    def _note(self, begun: int) -> None:
        with self._lock:
            self._under_way += begun
            if begun > 0:
                self._by_second[int(time.monotonic())] += 1
                self._at_once = max(self._at_once, self._under_way)


class _Requests(Watch):
    """One connection: the client sends a request when the one before is answered."""

    def __init__(self, note: Callable[[int], None]) -> None:
        self._note = note
        self._is_asked = False

    def sent(self, data: bytes) -> bool:
        """See a request begin."""
        if not self._is_asked and data.startswith(_METHODS):
            self._is_asked = True
            self._note(1)
        return False

    def answered(self, data: bytes) -> bool:
        """See its answer begin."""
        if self._is_asked:
            self._is_asked = False
            self._note(-1)
        return False
