"""Requests to a store, several at once."""

from __future__ import annotations

import threading
import time

import pytest

from connect_core.connectors.filesystem.side_by_side import for_each


def test_so_many_are_under_way_at_once() -> None:
    together = threading.Barrier(4)
    for_each(range(8), 4, lambda _: (together.wait(10), None)[1])
    assert not together.broken


@pytest.mark.parametrize(("items", "at_once"), [(0, 8), (1, 8), (5, 1), (5, 8), (1000, 8)])
def test_each_is_met_once(items: int, at_once: int) -> None:
    met: list[int] = []
    for_each(range(items), at_once, met.append)
    assert sorted(met) == list(range(items))


@pytest.mark.parametrize("at_once", [1, 4])
def test_an_error_ends_it_and_nothing_goes_on_behind_it(at_once: int) -> None:
    begun: list[int] = []

    def act(number: int) -> None:
        begun.append(number)
        if number == 2:
            raise OSError("no answer")
        time.sleep(0.001)

    with pytest.raises(OSError, match="no answer"):
        for_each(range(10_000), at_once, act)
    count = len(begun)
    assert count < 1_000, "only what the other threads had begun when it failed"
    time.sleep(0.01)
    assert len(begun) == count
