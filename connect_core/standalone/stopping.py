"""A standalone worker's end: asked for by a signal, and bounded whatever hangs."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from dataclasses import dataclass, field
from types import FrameType

import psutil

__all__ = ["STOP_SECONDS", "Stopping", "end_process"]

_LOG = logging.getLogger(__name__)
STOP_SECONDS = 15.0
"""So long after the first signal the process has ended."""
_READ_AGAIN = "What was not committed is read again"


_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_FLUSH_SECONDS = 1.0


@dataclass(slots=True)
class Stopping:
    """Waits for SIGTERM or SIGINT; the second one, or time, ends the process without further ado."""

    seconds: float = STOP_SECONDS
    asked: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        """Take over both signals; call it in the main thread."""
        # Python's own handlers wait for the main thread, which another thread's call or a lock may hold up.
        told, telling = socket.socketpair()
        telling.setblocking(False)
        signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, _pass)
        threading.Thread(target=self._bound, args=(told, telling), name="stopping", daemon=True).start()

    def _bound(self, told: socket.socket, telling: socket.socket) -> None:
        """``telling`` is held open."""
        _await_signal(told)
        # What Spark's client says of a JVM that ends beside it is no news.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self.asked.set()
        told.settimeout(self.seconds)
        try:
            _await_signal(told)
            _LOG.warning("Asked to stop again: ending now. %s", _READ_AGAIN)
        except TimeoutError:
            _LOG.warning("Not everything ended within %.0f s: ending now. %s", self.seconds, _READ_AGAIN)
        end_process(1)


def _pass(number: int, frame: FrameType | None) -> None:
    """Leave the signal to the thread that is told of it."""


def _await_signal(told: socket.socket) -> None:
    """Wait for a byte that is the number of one of the signals. Raises TimeoutError."""
    while told.recv(1)[0] not in _SIGNALS:
        continue


def end_process(status: int) -> None:
    """End this process and what it started, waiting for nothing."""
    # Apart: a thread that hangs while it logs holds its handler's lock.
    flushing = threading.Thread(target=logging.shutdown, daemon=True)
    flushing.start()
    flushing.join(_FLUSH_SECONDS)
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
    os._exit(status)
