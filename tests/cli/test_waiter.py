"""Waiting for connectors: a failed one, and a silent one, are named."""

from __future__ import annotations

import pytest

from connect_core.cli.waiter import ConnectorWaiter
from connect_core.dev.stack import Silent
from connect_core.errors import ConnectError
from tests.herder.harness import Harness
from tests.store.harness import failed


def waiter(harness: Harness, *names: str) -> ConnectorWaiter:
    return ConnectorWaiter(harness.herder, names, Silent())


def test_wait_ends_when_nothing_is_pending(harness: Harness) -> None:
    harness.create("a")
    answers = [["a"], ["a"], []]
    waiter(harness, "a").wait("data", lambda: answers.pop(0), 30)
    assert answers == []


def test_failed_connector_ends_the_wait_with_its_trace(harness: Harness) -> None:
    for name in ("a", "b"):
        harness.create(name)
    driver = harness.driver("b")
    driver.fail(driver.begin(), [failed(trace="Traceback: no such folder")])
    with pytest.raises(ConnectError, match="Task 0 of connector b is FAILED: Traceback: no such folder"):
        waiter(harness, "a", "b").wait("data", lambda: ["a"], 30)


def test_silent_connector_is_named_with_its_state(harness: Harness) -> None:
    for name in ("a", "b"):
        harness.create(name)
    harness.driver("b").plan()
    with pytest.raises(ConnectError) as caught:
        waiter(harness, "a", "b").wait("the first records", lambda: ["a", "b"], 0)
    assert "Timed out after 0 s waiting for the first records" in str(caught.value)
    assert "connector a is UNASSIGNED (no task yet)" in str(caught.value)
    assert "connector b is RUNNING (task 0 RUNNING)" in str(caught.value)
