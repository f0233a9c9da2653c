from __future__ import annotations

from connect_core.transforms.filter import Filter
from tests.transforms.single import applied, configured, sink


def test_all_records_are_dropped() -> None:
    assert applied(configured(Filter), sink(1), sink(2)) == [None, None]
