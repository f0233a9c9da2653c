"""Sharing out elements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.partitions import group_partitions
from connect_core.errors import IllegalArgumentError


@given(st.lists(st.integers()), st.integers(1, 20))
def test_groups_hold_all_in_order_and_evenly(elements: list[int], groups: int) -> None:
    assigned = group_partitions(elements, groups)
    assert [element for group in assigned for element in group] == elements
    sizes = [len(group) for group in assigned]
    assert len(sizes) == groups
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("groups", [0, -1])
def test_groups_must_be_positive(groups: int) -> None:
    with pytest.raises(IllegalArgumentError, match="must be positive"):
        group_partitions(["a"], groups)
