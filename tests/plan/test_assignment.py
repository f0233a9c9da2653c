"""How work is shared out over tasks."""

from __future__ import annotations

import pytest

from connect_core.api.sink import PartitionRange
from connect_core.errors import ConnectError
from connect_core.interval.values import ConnectorType, IntervalSettings, TaskAssignment
from connect_core.plan.assignment import assign_ranges, assignment_name, check_tasks_max


def test_partitions_are_assigned_in_turn() -> None:
    ranges = [PartitionRange("t", number, 0, 1) for number in (3, 1, 0, 2)]
    assert [[part.partition for part in share] for share in assign_ranges(ranges, 3)] == [[0, 3], [1], [2]]


def test_assignment_name_ignores_key_order() -> None:
    first = assignment_name(ConnectorType.SOURCE, [{"a": "1", "b": "2"}])
    assert first == assignment_name(ConnectorType.SOURCE, [{"b": "2", "a": "1"}])


def test_assignment_name_tells_tasks_apart() -> None:
    one, two = {"file": "a"}, {"file": "b"}
    assert assignment_name(ConnectorType.SOURCE, [one, two]) != assignment_name(ConnectorType.SOURCE, [two, one])


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(ConnectError, match=r"generated 2 tasks.*greater than 1.*tasks\.max\.enforce"):
        check_tasks_max("orders", TaskAssignment(({}, {})), IntervalSettings(tasks_max=1))


def test_too_many_tasks_pass_unenforced() -> None:
    check_tasks_max("orders", TaskAssignment(({}, {})), IntervalSettings(tasks_max=1, tasks_max_enforce=False))
