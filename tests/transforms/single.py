"""One transform on a few records, in both lanes."""

from __future__ import annotations

from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.data import Schema
from connect_core.api.headers import Headers
from connect_core.api.records import SinkRecord
from connect_core.api.transform import Transformation
from tests.transforms.lanes import differences

__all__ = ["applied", "configured", "in_columns", "pairs", "sink"]


def sink(value: Any, schema: Schema | None = None, **changes: Any) -> SinkRecord:
    """Return a sink record of topic ``t``, partition 1, offset 7, time 1000."""
    record = SinkRecord(changes.pop("topic", "t"), 1, None, None, schema, value, 1000, Headers(), 7)
    for name, change in changes.items():
        setattr(record, name, change)
    return record


def pairs(record: SinkRecord) -> list[tuple[str, Any]]:
    """Return the record's headers as (key, value)."""
    return [(header.key, header.value) for header in record.headers]


def configured(kind: type[Transformation], **settings: str) -> Any:
    """Return a configured transform; underscores in names stand for dots."""
    transform = kind()
    transform.configure({name.replace("_", "."): value for name, value in settings.items()})
    return transform


def applied(transform: Transformation, *records: SinkRecord) -> list[Any]:
    """Return the transformed records; the batch lane must give the same, by columns."""
    expected = [transform.apply(record) for record in records]
    changed = in_columns(transform, *records)
    assert changed is not None, "the batch went by records"
    kept = [record for record in expected if record is not None]
    for one, other in zip(kept, changed.to_records(), strict=True):
        assert differences(one, other) == []
    return expected


def in_columns(transform: Transformation, *records: SinkRecord) -> Batch | None:
    """Return the transformed batch, ``None`` if the transform has no columnar path for it."""
    return transform.apply_batch(Batch.from_records(records))
