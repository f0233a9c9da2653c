"""Transactional ids: equal for equal parts only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from connect_core.kafka.ids import control_id, transactional_id

PARTS = st.tuples(st.text(max_size=80), st.text(max_size=80), st.integers(0, 20))


def test_borders_of_parts_count() -> None:
    ids = [transactional_id(*parts) for parts in (("a", "b.c", 0), ("a.b", "c", 0), ("a-b", "c", 0), ("a", "b-c", 0))]
    assert len(set(ids)) == 4


@given(PARTS, PARTS)
def test_different_parts_have_different_ids(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    assert (transactional_id(*one) == transactional_id(*other)) == (one == other)


def test_long_names_that_begin_alike_differ() -> None:
    long = "x" * 300
    assert transactional_id("d", long + "1", 0) != transactional_id("d", long + "2", 0)
    assert len(transactional_id(long, long, 0)) < 200


def test_control_is_no_task() -> None:
    assert control_id("d", "c") not in {transactional_id("d", "c", task) for task in range(100)}
    assert transactional_id("dep", "lines", 3).startswith("connect-dep-lines-3-")
