"""Sample records and values, for contracts whose author gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    Struct,
)
from connect_core.api.headers import Header, Headers
from connect_core.api.records import SinkRecord, SourceRecord, TimestampType

__all__ = ["BAD_BYTES", "ORDER_SCHEMA", "orders", "sample_records", "sample_values", "sink_records"]

ORDER_SCHEMA = (
    SchemaBuilder.struct()
    .name("sample.Order")
    .field("id", INT64_SCHEMA)
    .field("customer", OPTIONAL_STRING_SCHEMA)
    .field("amount", FLOAT64_SCHEMA)
    .build()
)
BAD_BYTES: tuple[bytes, ...] = (b"", b"\x00", b"{", b'{"schema"', b"\xff\xfe\xfd", b"[" * 2000, b"18446744073709551616")
_SCALARS: tuple[tuple[Schema, Any], ...] = (
    (STRING_SCHEMA, "Zoë"),
    (STRING_SCHEMA, ""),
    (BYTES_SCHEMA, b"\x00\xff"),
    (BOOLEAN_SCHEMA, True),
    (INT16_SCHEMA, -7),
    (INT32_SCHEMA, 7),
    (INT64_SCHEMA, 2**53 + 1),
    (FLOAT32_SCHEMA, 0.5),
    (FLOAT64_SCHEMA, 0.1),
    (OPTIONAL_STRING_SCHEMA, None),
)
_CUSTOMERS = ("ada", None, "grace", "Zoë", "", "linus")


def orders(count: int = 6) -> list[Struct]:
    """Return orders as structs of ``ORDER_SCHEMA``."""
    rows = [(number, _CUSTOMERS[number % len(_CUSTOMERS)], number * 1.5) for number in range(count)]
    return [Struct.of_values(ORDER_SCHEMA, row) for row in rows]


def sink_records(
    schema: Schema | None, values: Sequence[Any], topic: str = "t", partitions: int = 2
) -> list[SinkRecord]:
    """Return values as records, distributed over the partitions; every other one has a header."""
    return [
        SinkRecord(
            topic,
            number % partitions,
            STRING_SCHEMA,
            f"key {number}",
            schema,
            value,
            1_700_000_000_000 + number,
            Headers([Header("source", STRING_SCHEMA, "sample")] if number % 2 else ()),
            kafka_offset=number // partitions,
            timestamp_type=TimestampType.CREATE_TIME,
        )
        for number, value in enumerate(values)
    ]


def sample_records() -> list[SinkRecord | SourceRecord]:
    """Return structs, maps, text and nulls, as sink and as source records."""
    sinks = sink_records(ORDER_SCHEMA, orders())
    maps = [{"id": row["id"], "customer": row["customer"], "amount": row["amount"]} for row in orders()]
    sinks += sink_records(None, maps) + sink_records(STRING_SCHEMA, ["one", "two"]) + sink_records(None, [None, None])
    return [*sinks, *map(_as_source, sinks)]


def sample_values() -> list[SchemaAndValue]:
    """Return a value of each kind; a converter refuses those it cannot represent."""
    structs = [SchemaAndValue(ORDER_SCHEMA, order) for order in orders(3)]
    maps = [SchemaAndValue(None, {"id": 1, "tags": ["a", None], "deep": {"x": 1.5}}), SchemaAndValue(None, None)]
    return [*structs, *maps, *(SchemaAndValue(schema, value) for schema, value in _SCALARS)]


def _as_source(record: SinkRecord) -> SourceRecord:
    return SourceRecord(
        record.topic,
        None,
        record.key_schema,
        record.key,
        record.value_schema,
        record.value,
        record.timestamp,
        record.headers.duplicate(),
        {"table": f"orders{record.kafka_partition}"},
        {"row": record.kafka_offset},
    )
