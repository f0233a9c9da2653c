"""A schema with every kind of column, and values of it."""

from __future__ import annotations

from decimal import Decimal as Number

from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Float32,
    Instant,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)

__all__ = ["EVERYTHING", "everything"]

INNER = (
    SchemaBuilder.struct()
    .name("shop.Address")
    .optional()
    .field("street", OPTIONAL_STRING_SCHEMA)
    .field("number", INT32_SCHEMA)
    .build()
)
UNION = (
    SchemaBuilder.struct()
    .name("io.confluent.connect.avro.Union")
    .optional()
    .field("string", OPTIONAL_STRING_SCHEMA)
    .field("long", OPTIONAL_INT64_SCHEMA)
    .build()
)
EVERYTHING = (
    SchemaBuilder.struct()
    .name("shop.Everything")
    .field("int8", INT8_SCHEMA)
    .field("int16", INT16_SCHEMA)
    .field("int32", INT32_SCHEMA)
    .field("int64", INT64_SCHEMA)
    .field("float32", FLOAT32_SCHEMA)
    .field("float64", FLOAT64_SCHEMA)
    .field("boolean", BOOLEAN_SCHEMA)
    .field("string", STRING_SCHEMA)
    .field("bytes", BYTES_SCHEMA)
    .field("decimal", Decimal.builder(2).optional().build())
    .field("date", Date.SCHEMA)
    .field("time", Time.SCHEMA)
    .field("timestamp", Timestamp.builder().optional().build())
    .field("default", SchemaBuilder.string().optional().default_value("none").build())
    .field("inner", INNER)
    .field("list", SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).optional().build())
    .field("lists", SchemaBuilder.array(SchemaBuilder.array(INT64_SCHEMA).build()).build())
    .field("map", SchemaBuilder.map(STRING_SCHEMA, INNER).build())
    .field("entries", SchemaBuilder.map(INT32_SCHEMA, OPTIONAL_STRING_SCHEMA).build())
    .field("union", UNION)
    .build()
)


def everything(number: int) -> Struct:
    """Return a value; some have nulls."""
    odd = number % 2 == 1
    inner = None if number % 3 == 0 else Struct.of_values(INNER, [None if odd else f"street {number}", number])
    unions = (None, [f"text {number}", None], [None, -(3**number)])
    union = unions[number % 3]
    return Struct.of_values(
        EVERYTHING,
        [
            number - 10,
            -number * 100,
            (-7) ** min(number, 10),
            (-9) ** min(number, 19),
            Float32(number / 3),
            -number / 7,
            odd,
            "é" * number,
            bytes(range(number)),
            None if odd else Number(number - 7).scaleb(-2),
            Instant((number - 5) * 86_400_000),
            Instant(number * 1000),
            Instant(1_700_000_000_000 + number) if odd else None,
            None if number % 5 else f"given {number}",
            inner,
            None if number % 4 == 0 else [None if place % 2 else str(place) for place in range(number % 7)],
            [list(range(place)) for place in range(number % 4)],
            {f"key {place}": inner for place in range(number % 3)},
            {place: None if odd else str(place) for place in range(number % 5)},
            None if union is None else Struct.of_values(UNION, union),
        ],
    )
