"""Dealing work over tasks."""

from __future__ import annotations

import pytest

from connect_core.api.sink import PartitionRange
from connect_core.errors import ConnectError
from connect_core.interval.values import ConnectorType, IntervalSettings, TaskDeal
from connect_core.plan.deal import check_tasks_max, deal_name, deal_ranges


def test_partitions_are_dealt_round() -> None:
    ranges = [PartitionRange("t", number, 0, 1) for number in (3, 1, 0, 2)]
    assert [[part.partition for part in share] for share in deal_ranges(ranges, 3)] == [[0, 3], [1], [2]]


def test_deal_name_ignores_key_order() -> None:
    first = deal_name(ConnectorType.SOURCE, [{"a": "1", "b": "2"}])
    assert first == deal_name(ConnectorType.SOURCE, [{"b": "2", "a": "1"}])


def test_deal_name_tells_tasks_apart() -> None:
    one, two = {"file": "a"}, {"file": "b"}
    assert deal_name(ConnectorType.SOURCE, [one, two]) != deal_name(ConnectorType.SOURCE, [two, one])


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(ConnectError, match=r"generated 2 tasks.*greater than 1.*tasks\.max\.enforce"):
        check_tasks_max("orders", TaskDeal(({}, {})), IntervalSettings(tasks_max=1))


def test_too_many_tasks_pass_unenforced() -> None:
    check_tasks_max("orders", TaskDeal(({}, {})), IntervalSettings(tasks_max=1, tasks_max_enforce=False))
