"""Calls that hang: each has its thread, and there are never more of them than the limit."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from connect_core.errors import ConnectError, RetriableError
from connect_core.herder.attempts import Attempts

_HANGS = """
import threading
from connect_core.herder.attempts import Attempts
Attempts("calls", 1).start(threading.Event().wait)
"""


def test_an_answer_and_an_error_come_back() -> None:
    attempts = Attempts("calls", 1)
    assert attempts.start(lambda: 7).result(10) == 7

    def refused() -> None:
        raise ConnectError("no")

    with pytest.raises(ConnectError, match="no"):
        attempts.start(refused).result(10)


def test_more_than_the_limit_are_refused_until_one_returns() -> None:
    attempts, wake = Attempts("calls of nobody", 64), threading.Event()
    before = threading.active_count()
    hanging = [attempts.start(wake.wait) for _ in range(64)]
    for _ in range(1000):
        with pytest.raises(RetriableError, match="64 calls of nobody are running: try again in a moment"):
            attempts.start(wake.wait)
    assert threading.active_count() == before + 64
    wake.set()
    assert [one.result(10) for one in hanging] == [True] * 64


def test_a_call_that_hangs_does_not_keep_the_process() -> None:
    assert subprocess.run([sys.executable, "-c", _HANGS], timeout=60, check=False).returncode == 0
