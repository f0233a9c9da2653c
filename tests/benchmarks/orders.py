"""The orders of about 120 bytes on which every peer is measured, and log lines."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from connect_core.api.arrow import to_arrow_array
from connect_core.api.batch import Batch, Columns, Objects
from connect_core.api.data import (
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Timestamp,
)
from connect_core.api.records import SinkRecord
from connect_core.java.instant import Instant

__all__ = ["ORDER_SCHEMA", "batch_of", "log_lines", "orders", "records_of", "structs"]

ORDER_SCHEMA: Schema = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", INT64_SCHEMA)
    .field("customer", STRING_SCHEMA)
    .field("amount", FLOAT64_SCHEMA.replace(optional=True))
    .field("qty", INT32_SCHEMA)
    .field("status", STRING_SCHEMA)
    .field("ssn", STRING_SCHEMA.replace(optional=True))
    .field("ts", Timestamp.SCHEMA)
    .build()
)


def orders(count: int) -> list[dict[str, Any]]:
    """Return schemaless orders."""
    source = random.Random(1)
    return [
        {
            "id": place,
            "customer": f"customer-{place % 10007}",
            "amount": round(source.random() * 1000, 2),
            "qty": place % 17,
            "status": ("NEW", "PAID", "SHIPPED")[place % 3],
            "ssn": f"123-45-{place % 10000:04d}",
            "ts": 1_700_000_000_000 + place,
        }
        for place in range(count)
    ]


def structs(count: int) -> list[Struct]:
    """Return the same orders under ``ORDER_SCHEMA``."""
    return [
        Struct.of_values(ORDER_SCHEMA, [*list(order.values())[:-1], Instant(order["ts"])]) for order in orders(count)
    ]


def log_lines(count: int) -> list[str]:
    """Return lines of a web server's log, of about 120 bytes."""
    return [
        f"10.0.{place % 256}.{place % 199} - - [21/Nov/2026:10:{place % 60:02}:{place % 59:02} +0000] "
        f"GET /shop/item/{place % 5003}?page={place % 7} HTTP/1.1 200 {place % 40961} Mozilla/5.0 (X11; Linux)"
        for place in range(count)
    ]


def records_of(schema: Schema | None, values: list[Any]) -> list[SinkRecord]:
    """Return sink records of these values."""
    return [
        SinkRecord("orders", place % 4, None, None, schema, value, 1_700_000_000_000 + place, kafka_offset=place)
        for place, value in enumerate(values)
    ]


def batch_of(schema: Schema | None, values: list[Any]) -> Batch:
    """Return the same records as one batch of columns."""
    array = to_arrow_array(schema, values)
    batch = Batch.from_records(records_of(schema, values))
    return Batch(
        topic=batch.topic.dictionary_encode(),
        partition=batch.partition,
        offset=batch.offset,
        timestamp=batch.timestamp,
        origin=batch.origin,
        key=Columns(None, pa.nulls(len(values))),
        value=Objects([schema] * len(values), values) if array is None else Columns(schema, array),
        timestamp_type=batch.timestamp_type,
    )
