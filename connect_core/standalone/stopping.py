"""Stopping a standalone worker: requested by a signal, and limited in time whatever hangs."""

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
"""The process ends at most this long after the first signal."""
_READ_AGAIN = "Data that was not committed will be read again"


_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_FLUSH_SECONDS = 1.0


@dataclass(slots=True)
class Stopping:
    """Waits for SIGTERM or SIGINT; a second one, or the end of ``seconds``, ends the process at once."""

    seconds: float = STOP_SECONDS
    asked: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        """Take over both signals; call it in the main thread."""
        # Python's own handlers run in the main thread, which may be blocked by a call or a lock.
        told, telling = socket.socketpair()
        telling.setblocking(False)
        signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, _pass)
        threading.Thread(target=self._bound, args=(told, telling), name="stopping", daemon=True).start()

    def _bound(self, told: socket.socket, telling: socket.socket) -> None:
        """Set ``asked`` at the first signal, then enforce the time limit; ``telling`` is passed to keep it open."""
        _await_signal(told)
        # Errors of Spark's client about the JVM that is ending too are irrelevant.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self.asked.set()
        told.settimeout(self.seconds)
        try:
            _await_signal(told)
            _LOG.warning("Asked to stop again: exiting now. %s", _READ_AGAIN)
        except TimeoutError:
            _LOG.warning("Not everything stopped within %.0f s: exiting now. %s", self.seconds, _READ_AGAIN)
        end_process(1)


def _pass(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal is handled by the thread that reads it from the socket."""


def _await_signal(told: socket.socket) -> None:
    """Wait for a byte with the number of one of the signals. Raises TimeoutError."""
    while told.recv(1)[0] not in _SIGNALS:
        continue


def end_process(status: int) -> None:
    """End this process and its children at once."""
    # In a separate thread: one that hangs while logging would hold its handler's lock.
    flushing = threading.Thread(target=logging.shutdown, daemon=True)
    flushing.start()
    flushing.join(_FLUSH_SECONDS)
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
    os._exit(status)
