"""Whether a waiting connector is run: due, held, or quiet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from connect_core.herder.readiness import lacks_assignment, readiness
from connect_core.interval.values import IntervalState, TargetState
from tests.herder.test_status import BROKEN, FAILURE, RETRIABLE, facts, interval

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER, EARLIER = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
TABLE: list[tuple[str, dict[str, Any], str]] = [
    ("waiting", {"interval": interval(IntervalState.COMMITTED)}, "quiet"),
    ("never had data", {}, "quiet"),
    ("no plan yet", {"planned_version": None, "task_count": None}, "due"),
    ("resumed after a stop", {"task_count": None}, "due"),
    ("new config", {"config_version": 2}, "due"),
    ("unfinished", {"interval": interval(IntervalState.RUNNING)}, "due"),
    ("restart asked for", {"restarting": frozenset({0}), "interval": BROKEN}, "due"),
    ("paused", {"target_state": TargetState.PAUSED, "config_version": 2}, "held"),
    ("stopped", {"target_state": TargetState.STOPPED}, "held"),
    ("DAG paused", {"is_dag_paused": True}, "held"),
    ("connector failed", {"failure": FAILURE}, "held"),
    ("connector failed at its first plan", {"failure": FAILURE, "planned_version": None}, "held"),
    ("connector restarts", {"failure": FAILURE, "restarting": frozenset({-1})}, "due"),
    ("task failed", {"interval": BROKEN}, "held"),
    ("task failed, new config", {"interval": BROKEN, "config_version": 2}, "due"),
    ("retry to come", {"interval": interval(IntervalState.FAILED, RETRIABLE, retry_at=LATER)}, "held"),
    ("retry due", {"interval": interval(IntervalState.FAILED, RETRIABLE, retry_at=EARLIER)}, "due"),
    ("retriable, no time set", {"interval": interval(IntervalState.FAILED, RETRIABLE)}, "due"),
]


@pytest.mark.parametrize(("changed", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_readiness_follows_the_facts(changed: dict[str, Any], expected: str) -> None:
    assert readiness(facts(**changed), NOW).value == expected


def test_assignment_is_lacking_where_nothing_else_is() -> None:
    lacking = {"no plan yet", "resumed after a stop", "new config"}
    assert {row[0] for row in TABLE if lacks_assignment(facts(**row[1]))} == lacking
