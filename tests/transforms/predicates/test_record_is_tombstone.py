from __future__ import annotations

from connect_core.transforms.predicates.record_is_tombstone import RecordIsTombstone
from tests.transforms.predicates.both_lanes import evaluated


def test_records_and_batches_agree() -> None:
    assert evaluated(RecordIsTombstone(), {}) == [False, True, False]
