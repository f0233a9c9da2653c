"""Batches of source records: which of their source partitions are one, and which position is the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from connect_core.api.batch import Batch
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord

AB, BA = {"a": 1, "b": 2}, {"b": 2, "a": 1}
TEXTS = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}


def last(*partitions: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the last row of each source partition, by its canonical JSON."""
    records = [
        SourceRecord("t", source_partition=partition, source_offset={"n": row})
        for row, partition in enumerate(partitions)
    ]
    positions = Batch.from_records(records).positions
    assert positions is not None
    found: Sequence[tuple[Any, Any]] = positions.last()
    assert len({canonical(partition) for partition, _ in found}) == len(found)
    return {canonical(partition): offset["n"] for partition, offset in found}


@pytest.mark.parametrize(
    "partitions", [(AB, BA, AB), (AB, AB, BA), (BA, dict(AB), BA), TEXTS * 2, (None, {}, None), (AB,)]
)
def test_partitions_of_the_same_content_are_one(partitions: Sequence[Any]) -> None:
    assert last(*partitions) == {canonical(partitions[0] or {}): len(partitions) - 1}


def test_values_that_python_takes_for_equal_are_not_the_same_partition() -> None:
    given = [{"a": value} for value in (1, True, 1.0, "1", None, 0, False)]
    assert last(*given) == {canonical(one): row for row, one in enumerate(given)}
    assert last(*given, *given[:2]) == {canonical(one): row if row > 1 else row + 7 for row, one in enumerate(given)}


def test_no_partition_is_an_empty_one_beside_others() -> None:
    assert last(None, AB, {}, BA) == {"{}": 2, canonical(AB): 3}


def test_positions_stay_when_the_maps_change() -> None:
    partition, offset = {"p": 1}, {"n": 1}
    positions = Batch.from_records([SourceRecord("t", source_partition=partition, source_offset=offset)]).positions
    partition["p"] = offset["n"] = 2
    assert positions is not None
    assert positions.to_list() == [({"p": 1}, {"n": 1})]
