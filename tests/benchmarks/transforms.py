"""Records a second through each transform and predicate, in both lanes.

    python -m tests.benchmarks transforms

20,000 orders, without and with a schema. Batches must be at least ten times
as quick as records for the transforms marked with a star.
"""

from __future__ import annotations

from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord
from connect_core.api.transform import Predicate, Transformation
from connect_core.transforms.cast import CastValue
from connect_core.transforms.drop_headers import DropHeaders
from connect_core.transforms.extract_field import ExtractFieldValue
from connect_core.transforms.filter import Filter
from connect_core.transforms.flatten import FlattenValue
from connect_core.transforms.header_from import HeaderFromValue
from connect_core.transforms.hoist_field import HoistFieldValue
from connect_core.transforms.insert_field import InsertFieldValue
from connect_core.transforms.insert_header import InsertHeader
from connect_core.transforms.mask_field import MaskFieldValue
from connect_core.transforms.predicates.has_header_key import HasHeaderKey
from connect_core.transforms.predicates.record_is_tombstone import RecordIsTombstone
from connect_core.transforms.predicates.topic_name_matches import TopicNameMatches
from connect_core.transforms.regex_router import RegexRouter
from connect_core.transforms.replace_field import ReplaceFieldValue
from connect_core.transforms.set_schema_metadata import SetSchemaMetadataValue
from connect_core.transforms.timestamp_converter import TimestampConverterValue
from connect_core.transforms.timestamp_router import TimestampRouter
from connect_core.transforms.value_to_key import ValueToKey
from tests.benchmarks.measure import rate, show
from tests.benchmarks.orders import ORDER_SCHEMA, batch_of, orders, records_of, structs

ROWS = 20_000
STARRED = 10
Stage = Transformation | Predicate

CASES: list[tuple[type[Stage], dict[str, str]]] = [
    (InsertFieldValue, {"static.field": "source", "static.value": "shop", "offset.field": "offset"}),
    (ReplaceFieldValue, {"exclude": "ssn", "renames": "qty:quantity"}),
    (MaskFieldValue, {"fields": "ssn", "replacement": "***"}),
    (CastValue, {"spec": "id:string,qty:float64"}),
    (ExtractFieldValue, {"field": "customer"}),
    (HoistFieldValue, {"field": "order"}),
    (FlattenValue, {}),
    (HeaderFromValue, {"fields": "status", "headers": "status", "operation": "move"}),
    (SetSchemaMetadataValue, {"schema.name": "shop.Order", "schema.version": "2"}),
    (TimestampConverterValue, {"field": "ts", "target.type": "string", "format": "yyyy-MM-dd HH:mm:ss"}),
    (ValueToKey, {"fields": "id"}),
    (RegexRouter, {"regex": "(.*)", "replacement": "shop.$1"}),
    (TimestampRouter, {}),
    (InsertHeader, {"header": "source", "value.literal": "shop"}),
    (DropHeaders, {"headers": "source"}),
    (Filter, {}),
    (HasHeaderKey, {"name": "source"}),
    (RecordIsTombstone, {}),
    (TopicNameMatches, {"pattern": "ord.*"}),
]
STARS = {InsertFieldValue, ReplaceFieldValue, MaskFieldValue, CastValue, ExtractFieldValue, HoistFieldValue}


def main() -> bool:
    """Print the table; return whether every starred transform is quick enough."""
    enough = True
    for title, schema, values in (("schemaless", None, orders(ROWS)), ("struct", ORDER_SCHEMA, structs(ROWS))):
        records, batch = records_of(schema, values), batch_of(schema, values)
        rows = []
        for kind, config in CASES:
            if schema is None and kind is SetSchemaMetadataValue:
                continue
            by_record, by_batch = _measure(kind, config, records, batch)
            ratio = by_batch / by_record
            enough &= kind not in STARS or ratio >= STARRED
            name = kind.__name__ + (" *" if kind in STARS else "")
            rows.append([name, f"{by_record:,.0f}", f"{by_batch:,.0f}", f"{ratio:,.1f}"])
        show(f"{ROWS:,} orders, {title}", ["transform", "records/s", "in batches", "ratio"], rows)
    return enough


def _measure(kind: type[Stage], config: dict[str, Any], records: list[SinkRecord], batch: Batch) -> tuple[float, float]:
    stage = kind()
    stage.configure(config)
    if isinstance(stage, Predicate):
        test, test_batch = stage.test, stage.test_batch
        return rate(len(records), lambda: [test(record) for record in records]), rate(
            len(records), lambda: _certain(test_batch(batch))
        )
    apply, apply_batch = stage.apply, stage.apply_batch
    return rate(len(records), lambda: [apply(record) for record in records]), rate(
        len(records), lambda: _certain(apply_batch(batch))
    )


def _certain(result: object) -> object:
    if result is None:
        raise SystemExit("a homogeneous batch fell back to records")
    return result
