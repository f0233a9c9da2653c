"""Messages with a registered schema a second of processor time: batches of 100,000, two million orders in all.

    python -m tests.benchmarks registry_converters

Avro must reach 1,200,000 read and 1,000,000 written a second and core, Protobuf 300,000 read. Beside the batches stand
Avro's record lane and fastavro, which makes plain dictionaries of one body at a time.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_type
from connect_core.api.batch import Columns
from connect_core.api.convert import Converter
from connect_core.api.data import (
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Timestamp,
)
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.model import RegisteredSchema, SchemaText
from connect_core.schema_registry.serde import MessageSchemas
from tests.benchmarks.measure import rate, show
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.memory import MemoryRegistry

ROWS, BATCH, FEW = 2_000_000, 100_000, 50_000
FRAME = 5
SCHEMA: Schema = (
    SchemaBuilder.struct()
    .name("shop.Order")
    .field("id", INT64_SCHEMA)
    .field("customer", STRING_SCHEMA)
    .field("amount", FLOAT64_SCHEMA)
    .field("created", Timestamp.SCHEMA)
    .field("note", OPTIONAL_STRING_SCHEMA)
    .build()
)


class QuickSchemas(PlainSchemas):
    """The frames of a whole batch at once, and every schema looked up once."""

    def __init__(self) -> None:
        super().__init__(MemoryRegistry())
        self._written: dict[SchemaText, tuple[bytes, RegisteredSchema]] = {}
        self._known: dict[int, RegisteredSchema] = {}

    def split_batch(self, messages: pa.BinaryArray) -> Frames:
        """Return the frames; no message may be null."""
        offsets = np.frombuffer(messages.buffers()[1], np.int32)[messages.offset :][: len(messages) + 1]
        data, starts = np.frombuffer(messages.buffers()[2], np.uint8), offsets[:-1].astype(np.int64)
        ids = np.zeros(len(messages), np.int64)
        for place in range(1, FRAME):
            ids = ids * 256 + data[starts + place]
        assert not data[starts].any()
        return Frames(ids, starts + FRAME, offsets[1:].astype(np.int64), data)

    def schema_of(self, id: int) -> RegisteredSchema:
        """Return the schema of an id."""
        return self._known.setdefault(id, super().schema_of(id)) if id not in self._known else self._known[id]

    def to_write(self, topic: str, schema: SchemaText, record_name: str | None) -> tuple[bytes, RegisteredSchema]:
        """Return the frame and the schema."""
        if schema not in self._written:
            self._written[schema] = super().to_write(topic, schema, record_name)
        return self._written[schema]


GOALS: tuple[tuple[Callable[[MessageSchemas], Converter], dict[str, str], int, int], ...] = (
    (AvroConverter, {}, 1_200_000, 1_000_000),
    (ProtobufConverter, {"optional.for.nullables": "true"}, 300_000, 0),
    (JsonSchemaConverter, {}, 0, 0),
)
"""Converter, settings → messages that it has to read and to write a second."""


def main() -> bool:
    """Measure and print; whether each is fast enough."""
    batches = [orders(first) for first in range(0, ROWS, BATCH)]
    rows, reached = [], True
    for kind, settings, least_reads, least_writes in GOALS:
        converter = kind(QuickSchemas())
        converter.configure(settings, False)
        reads, writes = _by_batch(converter, batches)
        rows.append([f"{type(converter).__name__}, batches", f"{reads:,.0f}", f"{writes:,.0f}"])
        reached = reached and reads >= least_reads and writes >= least_writes
        if isinstance(converter, AvroConverter):
            rows += _by_record(converter, batches[0].array.slice(0, FEW))
    show(f"{ROWS:,} orders with a registered schema", ["lane", "reads/s", "writes/s"], rows)
    return reached


def _by_batch(converter: Converter, batches: Sequence[Columns]) -> tuple[float, float]:
    """Return what is read and written a second, after a look at whether both are right."""
    topic = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), BATCH), pa.array(["t"]))
    written = [converter.from_connect_batch(topic, batch) for batch in batches]
    if any(one is None for one in written):
        raise SystemExit("a batch was written by records")
    read = [converter.to_connect_batch(topic, one) for one in written]
    if not all(_is_equal(one, batch) for one, batch in zip(read, batches, strict=True)):
        raise SystemExit("a batch was read by records, or as something else")
    writes = rate(ROWS, lambda: [converter.from_connect_batch(topic, batch) for batch in batches])
    reads = rate(ROWS, lambda: [converter.to_connect_batch(topic, one) for one in written])
    return reads, writes


def _is_equal(read: object, batch: Columns) -> bool:
    return isinstance(read, Columns) and read.array.flatten() == batch.array.flatten()


def orders(first: int) -> Columns:
    """Return a batch of orders; a third of them has a note."""
    ids = pa.array(np.arange(first, first + BATCH))
    texts = ids.cast(pa.string())
    customer = pc.binary_join_element_wise("customer-", pa.array(np.arange(BATCH) % 10_007).cast(pa.string()), "")
    amount = pa.array(np.random.default_rng(first).random(BATCH) * 1000)
    created = pc.add(ids, 1_700_000_000_000).view(pa.timestamp("ms", tz="UTC"))
    given = pa.array(np.arange(BATCH) % 3 == 0)
    note = pc.if_else(given, pc.binary_join_element_wise("note of ", texts, ""), pa.scalar(None, pa.string()))
    kind = to_arrow_type(SCHEMA)
    columns = [ids, customer, amount, created, note]
    return Columns(SCHEMA, pa.StructArray.from_arrays(columns, fields=list(kind)))


def _by_record(converter: AvroConverter, array: pa.Array) -> list[list[str]]:
    values = Columns(SCHEMA, array).to_objects().values
    messages = [converter.from_connect_data("t", SCHEMA, value) for value in values]
    read, write = partial(converter.to_connect_data, "t"), partial(converter.from_connect_data, "t", SCHEMA)
    own = [
        f"{rate(FEW, lambda: list(map(read, messages))):,.0f}",
        f"{rate(FEW, lambda: list(map(write, values))):,.0f}",
    ]
    text = converter._schemas.schema_of(1).schema.text
    avro: Any = fastavro.parse_schema(json.loads(text))
    bodies = [message[FRAME:] for message in messages if message is not None]
    plain = [fastavro.schemaless_reader(io.BytesIO(body), avro, None) for body in bodies]
    reads = rate(FEW, lambda: [fastavro.schemaless_reader(io.BytesIO(body), avro, None) for body in bodies])
    writes = rate(FEW, lambda: [fastavro.schemaless_writer(io.BytesIO(), avro, one) for one in plain])
    return [["AvroConverter, records", *own], ["fastavro, one body at a time", f"{reads:,.0f}", f"{writes:,.0f}"]]
