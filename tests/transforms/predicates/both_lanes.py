"""A predicate on three records, evaluated one by one and as a batch."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.batch import Batch
from connect_core.api.headers import Header, Headers
from connect_core.api.records import SinkRecord
from connect_core.api.transform import Predicate
from tests.transforms.single import sink

__all__ = ["evaluated"]


def evaluated(predicate: Predicate, settings: Mapping[str, str]) -> list[bool]:
    """Return its results for a record of ``orders``, a tombstone and a record with header ``h``.

    Batches, with and without columns, must give the same results.
    """
    predicate.configure(settings)
    records = [sink(1, topic="orders"), sink(None), sink({"a": 1}, headers=Headers([Header("h", None, 1)]))]
    found = [predicate.test(record) for record in records]
    assert _in_batch(predicate, records) == found
    columns = [sink({"a": 1}), sink(None)]
    assert _in_batch(predicate, columns) == [predicate.test(one) for one in columns]
    return found


def _in_batch(predicate: Predicate, records: list[SinkRecord]) -> list[bool]:
    mask = predicate.test_batch(Batch.from_records(records))
    assert mask is not None
    return list(mask.to_pylist())
