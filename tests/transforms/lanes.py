"""A chain of transforms run by records and by batches, with the engine's fallback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.records import ConnectRecord
from connect_core.api.transform import Transformation
from connect_core.errors import ConnectError
from connect_core.java.equality import same_value

__all__ = ["by_batch", "by_record", "differences"]

Outcome = ConnectRecord | None | type[ConnectError]
"""What became of a record: another one, nothing, or the class of its error."""


def by_record(chain: Sequence[Transformation], record: ConnectRecord) -> Outcome:
    """Return what the record lane makes of one record."""
    result: ConnectRecord | None = record
    for transform in chain:
        if result is None:
            return None
        try:
            result = transform.apply(result)
        except ConnectError as error:
            return type(error)
    return result


def by_batch(chain: Sequence[Transformation], records: Sequence[ConnectRecord]) -> list[Outcome]:
    """Return what the batch lane makes of records, falling back where it must."""
    batch = Batch.from_records(records)
    for place, transform in enumerate(chain):
        changed = transform.apply_batch(batch)
        if changed is None:
            return _placed(records, batch, [by_record(chain[place:], record) for record in batch.to_records()])
        batch = changed
    return _placed(records, batch, list(batch.to_records()))


def _placed(records: Sequence[ConnectRecord], batch: Batch, outcomes: Sequence[Outcome]) -> list[Outcome]:
    known = dict(zip(batch.origin.to_pylist(), outcomes, strict=True))
    return [known.get(place) for place in range(len(records))]


def differences(one: Outcome, other: Outcome) -> list[str]:
    """Return the parts in which two outcomes differ."""
    if not isinstance(one, ConnectRecord) or not isinstance(other, ConnectRecord):
        return [] if one is other else ["outcome"]
    exact = ("topic", "kafka_partition", "timestamp", "key_schema", "value_schema")
    parts = [part for part in exact if getattr(one, part) != getattr(other, part)]
    parts += [part for part in ("key", "value") if not same_value(getattr(one, part), getattr(other, part))]
    parts += [
        f"order of {part}" for part in ("key", "value") if _order(getattr(one, part)) != _order(getattr(other, part))
    ]
    if not same_value(_headers(one), _headers(other)):
        parts.append("headers")
    rest = ("kafka_offset", "timestamp_type", "original_topic", "source_partition", "source_offset")
    return parts + [part for part in rest if getattr(one, part, None) != getattr(other, part, None)]


def _headers(record: ConnectRecord) -> list[Any]:
    return [[header.key, repr(header.schema), header.value] for header in record.headers]


def _order(value: Any) -> Any:
    """Return the keys of maps in the order in which a converter would write them."""
    return [(name, _order(item)) for name, item in value.items()] if isinstance(value, dict) else None
