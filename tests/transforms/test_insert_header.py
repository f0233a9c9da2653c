from __future__ import annotations

from connect_core.api.headers import Header, Headers
from connect_core.transforms.insert_header import InsertHeader
from tests.transforms.single import applied, configured, pairs, sink


def test_header_is_appended() -> None:
    old = sink(1, headers=Headers([Header("h", None, "old")]))
    records = applied(configured(InsertHeader, header="h", value_literal="2"), old, sink(2))
    assert [pairs(record) for record in records] == [[("h", "old"), ("h", 2)], [("h", 2)]]
    assert pairs(old) == [("h", "old")]
