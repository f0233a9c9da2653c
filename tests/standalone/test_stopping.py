"""The end of a standalone worker: a signal is heard whichever thread gets it, and the end is bounded."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

_BEGIN = """
import logging, signal, threading, time
from connect_core.standalone.stopping import Stopping, end_process
stopping = Stopping(1.0)
stopping.listen()
"""
_SIGNAL_TO_ANOTHER_THREAD = """
threading.Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM)).start()
stopping.asked.wait()
end_process(0)
"""
_NOTHING_ENDS = """
signal.raise_signal(signal.SIGTERM)
time.sleep(60)
"""
_HANDLER_HANGS = """
handler = logging.StreamHandler()
logging.getLogger().addHandler(handler)
threading.Thread(target=handler.acquire).start()
end_process(3)
"""


def ended(script: str) -> tuple[int, float]:
    """Run a script → its exit status, and the seconds it took beside Python's start."""
    began = time.monotonic()
    status = subprocess.run([sys.executable, "-c", _BEGIN + script], timeout=30, check=False).returncode
    return status, time.monotonic() - began


def test_a_signal_that_another_thread_gets_is_heard() -> None:
    status, took = ended(_SIGNAL_TO_ANOTHER_THREAD)
    assert status == 0
    assert took < 15


def test_what_does_not_end_is_ended() -> None:
    status, took = ended(_NOTHING_ENDS)
    assert status == 1
    assert 1 <= took < 20


def test_a_log_that_hangs_holds_nothing_up() -> None:
    status, took = ended(_HANDLER_HANGS)
    assert status == 3
    assert took < 15
