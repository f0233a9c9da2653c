"""Messages a second through each converter, in both lanes and both directions.

    python -m tests.benchmarks converters

Beside JSON stand the bare parsers, which prove nothing. Batches of JSON orders
must reach 700,000 a second and core, with the schema envelope 400,000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import polars as pl
import pyarrow as pa

from connect_core.api.arrow import to_arrow_array
from connect_core.api.batch import Columns, Data
from connect_core.api.convert import Converter
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    Float32,
    Int16,
    Int32,
    Schema,
)
from connect_core.converters.bytes import ByteArrayConverter
from connect_core.converters.json import JsonConverter
from connect_core.converters.numbers import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from connect_core.converters.string import StringConverter
from connect_core.transforms.hoist_field import HoistFieldValue
from connect_core.transforms.insert_field import InsertFieldValue
from connect_core.transforms.mask_field import MaskFieldValue
from tests.benchmarks.measure import rate, show
from tests.benchmarks.orders import ORDER_SCHEMA, batch_of, log_lines, orders, records_of, structs

ROWS = 20_000
PLAIN, ENVELOPE, CHAIN = 700_000, 400_000, 150_000
TOPIC = pa.array(["orders"] * ROWS).dictionary_encode()

SIMPLE: list[tuple[type[Converter], Schema, Callable[[int], Any]]] = [
    (ByteArrayConverter, BYTES_SCHEMA, lambda place: b"%d" % place),
    (BooleanConverter, BOOLEAN_SCHEMA, lambda place: place % 2 == 0),
    (ShortConverter, INT16_SCHEMA, lambda place: Int16(place % 1000)),
    (IntegerConverter, INT32_SCHEMA, lambda place: Int32(place)),
    (LongConverter, INT64_SCHEMA, lambda place: place),
    (FloatConverter, FLOAT32_SCHEMA, lambda place: Float32(place / 7)),
    (DoubleConverter, FLOAT64_SCHEMA, lambda place: place / 7),
]


def main() -> bool:
    """Print the tables; return whether JSON is quick enough."""
    rows: list[list[str]] = []
    plain = _converter(rows, "JSON orders", _configured(JsonConverter, {"schemas.enable": "false"}), None, orders(ROWS))
    envelope = _converter(rows, "JSON orders, envelope", _configured(JsonConverter), ORDER_SCHEMA, structs(ROWS))
    _converter(rows, "strings (log lines)", _configured(StringConverter), STRING_SCHEMA, log_lines(ROWS))
    for kind, schema, make in SIMPLE:
        _converter(rows, kind.__name__, _configured(kind), schema, [make(place) for place in range(ROWS)])
    columns = ["converter", "reads/s", "in batches", "ratio", "writes/s", "in batches", "ratio"]
    show(f"{ROWS:,} messages", columns, rows)
    chain = _chains()
    return min(plain) >= PLAIN and min(envelope) >= ENVELOPE and chain >= CHAIN


def _configured(kind: type[Converter], config: dict[str, str] | None = None) -> Converter:
    converter = kind()
    converter.configure(config or {}, False)
    return converter


def _converter(
    rows: list[list[str]], name: str, converter: Converter, schema: Schema | None, values: list[Any]
) -> tuple[float, float]:
    array = to_arrow_array(schema, values)
    data: Data = Columns(schema, array)
    written = converter.from_connect_batch(TOPIC, data)
    messages = [] if written is None else written.to_pylist()
    if not messages or converter.to_connect_batch(TOPIC, written) is None:
        raise SystemExit(f"a homogeneous batch of {name} fell back to records")
    read, write = converter.to_connect_data, converter.from_connect_data
    reads = rate(ROWS, lambda: [read("t", message) for message in messages])
    reads_in_batches = rate(ROWS, lambda: converter.to_connect_batch(TOPIC, written))
    writes = rate(ROWS, lambda: [write("t", schema, value) for value in values])
    writes_in_batches = rate(ROWS, lambda: converter.from_connect_batch(TOPIC, data))
    rows.append(
        [
            name,
            f"{reads:,.0f}",
            f"{reads_in_batches:,.0f}",
            f"{reads_in_batches / reads:,.1f}",
            f"{writes:,.0f}",
            f"{writes_in_batches:,.0f}",
            f"{writes_in_batches / writes:,.1f}",
        ]
    )
    return reads_in_batches, writes_in_batches


def _chains() -> float:
    rows = [["orjson.loads of each order, unproven", f"{_bare_orjson():,.0f}"]]
    rows.append(["polars.read_ndjson with a schema, unproven", f"{_bare_polars():,.0f}"])
    by_record = _record_chain()
    rows.append(["record lane: JSON read, MaskField, InsertField", f"{by_record:,.0f}"])
    rows.append(["batches: JSON read, MaskField, InsertField", f"{_batch_chain():,.0f}"])
    rows.append(["batches: lines, HoistField, InsertField, JSON written", f"{_log_chain():,.0f}"])
    show("Chains and bare parsers", ["work", "rows/s"], rows)
    return by_record


def _messages() -> list[bytes]:
    return list(map(orjson.dumps, orders(ROWS)))


def _bare_orjson() -> float:
    messages = _messages()
    return rate(ROWS, lambda: list(map(orjson.loads, messages)))


def _bare_polars() -> float:
    messages = _messages()
    schema = {"id": pl.Int64, "customer": pl.String, "amount": pl.Float64, "qty": pl.Int64}
    schema |= {"status": pl.String, "ssn": pl.String, "ts": pl.Int64}
    return rate(ROWS, lambda: pl.read_ndjson(b"\n".join(messages), schema=schema))


def _transforms() -> tuple[MaskFieldValue, InsertFieldValue]:
    mask, insert = MaskFieldValue(), InsertFieldValue()
    mask.configure({"fields": "ssn", "replacement": "***"})
    insert.configure({"static.field": "source", "static.value": "shop"})
    return mask, insert


def _json() -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, False)
    return converter


def _record_chain() -> float:
    mask, insert = _transforms()
    converter, messages = _json(), _messages()
    records = records_of(None, [None] * ROWS)

    def run() -> None:
        for record, message in zip(records, messages, strict=True):
            record.value = converter.to_connect_data("t", message).value
            insert.apply(mask.apply(record))

    return rate(ROWS, run)


def _batch_chain() -> float:
    mask, insert = _transforms()
    converter, messages = _json(), pa.array(_messages())
    batch = batch_of(None, orders(ROWS))

    def run() -> None:
        data = converter.to_connect_batch(TOPIC, messages)
        read = mask.side.with_data(batch, data) if data is not None else None
        masked = None if read is None else mask.apply_batch(read)
        if masked is None or insert.apply_batch(masked) is None:
            raise SystemExit("a homogeneous batch fell back to records")

    return rate(ROWS, run)


def _log_chain() -> float:
    hoist = HoistFieldValue()
    hoist.configure({"field": "line"})
    _, insert = _transforms()
    converter = _json()
    batch = batch_of(STRING_SCHEMA, log_lines(ROWS))

    def run() -> None:
        hoisted = hoist.apply_batch(batch)
        inserted = None if hoisted is None else insert.apply_batch(hoisted)
        if inserted is None or converter.from_connect_batch(TOPIC, inserted.value) is None:
            raise SystemExit("a homogeneous batch fell back to records")

    return rate(ROWS, run)
