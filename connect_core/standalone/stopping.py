"""A standalone worker's end: asked for by a signal, and bounded whatever hangs."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
from dataclasses import dataclass, field
from types import FrameType

import psutil

__all__ = ["STOP_SECONDS", "Stopping", "end_process"]

_LOG = logging.getLogger(__name__)
STOP_SECONDS = 15.0
"""So long after the first signal the process has ended."""
_READ_AGAIN = "What was not committed is read again"


@dataclass(slots=True)
class Stopping:
    """Waits for SIGTERM or SIGINT; the second one, or time, ends the process without further ado."""

    seconds: float = STOP_SECONDS
    asked: threading.Event = field(default_factory=threading.Event)
    # Its put may be called in a signal handler, which an event's set may not.
    _signals: queue.SimpleQueue[int] = field(default_factory=queue.SimpleQueue)

    def listen(self) -> None:
        """Take over both signals; call it in the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)
        threading.Thread(target=self._bound, name="stopping", daemon=True).start()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signals.put(number)

    def _bound(self) -> None:
        self._signals.get()
        # What Spark's client says of a JVM that ends beside it is no news.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self.asked.set()
        try:
            self._signals.get(timeout=self.seconds)
            _LOG.warning("Asked to stop again: ending now. %s", _READ_AGAIN)
        except queue.Empty:
            _LOG.warning("Not everything ended within %.0f s: ending now. %s", self.seconds, _READ_AGAIN)
        end_process(1)


def end_process(status: int) -> None:
    """End this process and what it started, waiting for nothing."""
    logging.shutdown()
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
    os._exit(status)
