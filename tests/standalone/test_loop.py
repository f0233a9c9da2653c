"""The thread of one connector in a standalone worker."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from connect_core.errors import NotFoundError
from connect_core.interval.runs import RunOutcome, RunStatus
from connect_core.standalone import loop as loops
from connect_core.standalone.loop import ConnectorLoop


class Worker:
    name = "a"

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("error", [SystemExit("no licence"), OSError("gone"), type("Panic", (BaseException,), {})()])
def test_the_thread_survives_whatever_a_plugin_raises(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """A plugin may try to end the process; a panic of a library in Rust is no Exception of Python."""
    monkeypatch.setattr(loops, "_FIRST_RETRY_SECONDS", 0.01)
    again = threading.Event()
    loop = ConnectorLoop(cast(Any, Worker()), cast(Any, None))
    errors = [error]

    def run_once(self: ConnectorLoop) -> RunOutcome:
        if errors:
            raise errors.pop()
        again.set()
        self.ask_to_stop()
        return RunOutcome(RunStatus.DRAINED)

    monkeypatch.setattr(ConnectorLoop, "_run_once", run_once)
    loop.start()
    assert again.wait(10)
    assert loop.join(10)


@pytest.mark.parametrize("is_stored", [True, False])
def test_only_the_connectors_own_absence_ends_its_thread(monkeypatch: pytest.MonkeyPatch, is_stored: bool) -> None:
    """What is not found may also be its topic, which somebody can create."""
    monkeypatch.setattr(loops, "_PROBE_SECONDS", 0.01)
    runs, gone = threading.Semaphore(0), threading.Event()
    loop = ConnectorLoop(cast(Any, Worker()), cast(Any, None), gone.set)

    def run_once(self: ConnectorLoop) -> RunOutcome:
        runs.release()
        raise NotFoundError("The topic lines does not exist")

    monkeypatch.setattr(ConnectorLoop, "_run_once", run_once)
    monkeypatch.setattr(ConnectorLoop, "_is_stored", lambda self: is_stored)
    loop.start()
    assert all(runs.acquire(timeout=10) for _ in range(3 if is_stored else 1))
    assert is_stored or gone.wait(10)
    loop.ask_to_stop()
    assert loop.join(10)
    assert gone.is_set() is not is_stored
