"""The garbage collector's pause nests, and ends."""

from __future__ import annotations

import gc
import threading

import pytest

from connect_core.kafka.collection_pause import collection_paused


def test_pause_ends_with_the_outermost() -> None:
    assert gc.isenabled()
    with collection_paused():
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_pause_ends_after_an_error() -> None:
    with pytest.raises(KeyError), collection_paused():
        raise KeyError
    assert gc.isenabled()


def test_overlapping_threads_leave_it_on() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with collection_paused():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    with collection_paused():
        thread.start()
        inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join(10)
    assert gc.isenabled()


def test_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
