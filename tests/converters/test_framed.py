"""Which subjects get a schema as a batch is written: those of its messages only."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connect_core.api.batch import Objects
from connect_core.api.convert import Converter
from connect_core.api.data import Schema, SchemaBuilder, Struct
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.errors import DataError
from tests.converters.registered import with_memory
from tests.schema_registry.memory import MemoryRegistry

CONVERTERS = [AvroConverter, JsonSchemaConverter, ProtobufConverter]
ROW: Schema = SchemaBuilder.struct().name("Row").optional().field("a", SchemaBuilder.int64().build()).build()


def _rows(*numbers: int | None) -> Objects:
    rows = [None if number is None else Struct.of_values(ROW, [number]) for number in numbers]
    return Objects([ROW] * len(rows), rows)


def _has_schema(registry: MemoryRegistry, topic: str) -> bool:
    try:
        return bool(registry.latest(f"{topic}-value"))
    except DataError:
        return False


@pytest.mark.parametrize("kind", CONVERTERS)
def test_a_topic_whose_rows_were_filtered_out_gets_no_schema(kind: type[Converter]) -> None:
    registry = MemoryRegistry()
    both = pa.array(["orders", "people", "orders"]).dictionary_encode()
    left = both.filter(pa.array([True, False, True]))
    found = with_memory(kind, registry).from_connect_batch(left, _rows(1, 2))
    assert found is not None
    assert found.null_count == 0
    assert (_has_schema(registry, "orders"), _has_schema(registry, "people")) == (True, False)


@pytest.mark.parametrize("kind", [AvroConverter, ProtobufConverter])
def test_a_topic_of_kafka_nulls_gets_no_schema(kind: type[Converter]) -> None:
    registry = MemoryRegistry()
    topics = pa.array(["orders", "people", "orders"])
    found = with_memory(kind, registry).from_connect_batch(topics, _rows(1, None, 2))
    assert found is not None
    assert [row is None for row in found.to_pylist()] == [False, True, False]
    assert (_has_schema(registry, "orders"), _has_schema(registry, "people")) == (True, False)
