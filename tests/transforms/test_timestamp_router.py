from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.api.batch import Batch
from connect_core.errors import DataError
from connect_core.transforms.timestamp_router import TimestampRouter
from tests.transforms.single import applied, configured, in_columns, sink


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [("yyyyMMdd", ["t-19691231", "t-20170103"]), ("HH:mm:ss.SSS", ["t-23:59:59.999", "t-06:30:01.864"])],
)
def test_topic_is_named_by_the_timestamp(pattern: str, topics: list[str]) -> None:
    transform = configured(TimestampRouter, timestamp_format=pattern)
    routed = applied(transform, sink(1, timestamp=-1), sink(1, timestamp=1_483_425_001_864))
    assert [record.topic for record in routed] == topics


def test_routed_record_keeps_its_time() -> None:
    batch = replace(Batch.from_records([sink(1, timestamp=5)]), read_time=5)
    routed = configured(TimestampRouter).apply_batch(batch)
    assert routed is not None
    assert (routed.timestamp.to_pylist(), routed.read_time) == ([5], None)


def test_missing_timestamp_is_refused() -> None:
    transform = configured(TimestampRouter)
    with pytest.raises(DataError, match="Timestamp missing"):
        transform.apply(sink(1, timestamp=None))
    assert in_columns(transform, sink(1, timestamp=None)) is None
