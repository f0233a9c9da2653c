from __future__ import annotations

from connect_core.api.headers import Header, Headers
from connect_core.transforms.drop_headers import DropHeaders
from tests.transforms.single import applied, configured, pairs, sink


def test_all_headers_of_a_name_are_dropped() -> None:
    headers = Headers([Header("a", None, 1), Header("b", None, 2), Header("a", None, 3)])
    records = applied(configured(DropHeaders, headers="a,c"), sink(1, headers=headers), sink(2))
    assert [pairs(record) for record in records] == [[("b", 2)], []]
