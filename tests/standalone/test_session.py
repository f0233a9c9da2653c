"""Spark's start in a standalone worker that may be asked to stop meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from connect_core.errors import RetriableError
from connect_core.spark import session as module
from connect_core.standalone.session import ProcessSession


class Spark:
    """Stands for a session; only its end is looked at."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


def starts(monkeypatch: pytest.MonkeyPatch, start: Callable[[], Any]) -> list[str]:
    names: list[str] = []

    def local_session(name: str) -> Any:
        names.append(name)
        return start()

    monkeypatch.setattr(module, "local_session", local_session)
    return names


def test_all_connectors_get_one_session_that_is_stopped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = Spark()
    names = starts(monkeypatch, lambda: spark)
    session = ProcessSession()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: session.get(), range(8))) == {spark}
    assert len(names) == 1
    session.refuse()
    assert session.get() is spark
    session.stop()
    assert spark.stopped


def test_a_session_is_started_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def start() -> Spark:
        begun.set()
        return Spark()

    names = starts(monkeypatch, start)
    session = ProcessSession()
    session.begin()
    assert begun.wait(30)
    assert isinstance(session.get(), Spark)
    session.begin()
    assert len(names) == 1


def test_nobody_waits_for_spark_when_the_worker_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    starts(monkeypatch, never.wait)
    session = ProcessSession()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(session.get)
        session.refuse()
        with pytest.raises(RetriableError, match="before Spark had started"):
            waiting.result(30)
    session.stop()
    never.set()


def test_a_failed_start_is_raised_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = [RuntimeError("no memory"), Spark()]

    def start() -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    starts(monkeypatch, start)
    session = ProcessSession()
    with pytest.raises(RuntimeError, match="no memory"):
        session.get()
    assert isinstance(session.get(), Spark)
