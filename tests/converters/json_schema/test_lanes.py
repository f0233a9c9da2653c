"""JSON of a registry in batches says what it says by records, and survives a round trip."""

from __future__ import annotations

import math
from math import isfinite
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from connect_core.api.data import STRING_SCHEMA, Schema, SchemaBuilder, SchemaType, Struct
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from connect_core.schema_registry.model import SchemaKind
from tests.api.data.strategies import schemas, values_of
from tests.converters.lanes import read_by_batch, read_by_record, write_by_batch, write_by_record
from tests.converters.registered import framed, register, with_memory
from tests.converters.strategies import messages
from tests.full_run import examples
from tests.schema_registry.memory import MemoryRegistry
from tests.seeds import SEED

pytestmark = pytest.mark.slow

EXAMPLES = examples(40, 1000)
print(f"JSON Schema lanes: CONNECT_SEED={SEED}")
CHECKS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
FLAGS = st.sampled_from(["true", "false"])
FORMATS = st.sampled_from(["BASE64", "NUMERIC"])


@st.composite
def _typed_rows(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    schema = draw(schemas)
    return schema, draw(st.lists(values_of(schema), min_size=1, max_size=4))


def _floats(default: Any) -> list[float]:
    """Return the floating-point numbers of a default, those of structures included."""
    if isinstance(default, Struct):
        return [number for field in default.schema.fields for number in _floats(default.get(field))]
    return [default] if isinstance(default, float) else []


def _is_decimal(number: float) -> bool:
    """Return whether a decimal number says the same: there is no negative zero among them, and nothing infinite."""
    return isfinite(number) and str(float(number)) != "-0.0"


def _sayable(schema: Schema | None) -> bool:
    """Return whether JSON Schema can say all of a schema; see Confluent's converter."""
    if schema is None:
        return False
    if isinstance(schema.default, list | dict):
        # A null in it is written as the default of its elements.
        return False
    if not all(map(_is_decimal, _floats(schema.default))):
        return False
    if schema.type is SchemaType.STRUCT:
        return all(_sayable(field.schema) for field in schema.fields)
    if schema.type is SchemaType.MAP:
        keys = schema.key_schema
        if keys is not None and keys.type is SchemaType.STRING and not keys.optional and keys != STRING_SCHEMA:
            # The names of an object have no schema of their own.
            return False
        return _sayable(schema.key_schema) and _sayable(schema.value_schema)
    return schema.type is not SchemaType.ARRAY or _sayable(schema.value_schema)


@seed(SEED)
@CHECKS
@given(typed=_typed_rows(), decimals=FORMATS, ignore=FLAGS)
def test_typed_rows_round_trip_equally(typed: tuple[Schema, list[Any]], decimals: str, ignore: str) -> None:
    note(f"CONNECT_SEED={SEED}")
    schema, values = typed
    converter = with_memory(JsonSchemaConverter, decimal_format=decimals, ignore_default_for_nullables=ignore)
    written = write_by_record(converter, schema, values)
    in_batch = write_by_batch(converter, schema, values)
    assert in_batch is None or in_batch == written
    known = [message for message in written if isinstance(message, bytes)]
    if known:
        _check_reading(converter, known)


@seed(SEED)
@CHECKS
@given(typed=_typed_rows())
def test_schemas_survive(typed: tuple[Schema, list[Any]]) -> None:
    note(f"CONNECT_SEED={SEED}")
    schema, values = typed
    if not _sayable(schema):
        return
    converter = with_memory(JsonSchemaConverter)
    message = converter.from_connect_data("t", schema, values[0])
    if message is None:
        return
    assert converter.to_connect_data("t", message).schema == schema


@seed(SEED)
@CHECKS
@given(bodies=st.lists(messages, min_size=1, max_size=4), schema=schemas)
def test_any_payloads_are_read_equally(bodies: list[bytes], schema: Schema) -> None:
    note(f"CONNECT_SEED={SEED}")
    registry = MemoryRegistry()
    converter = with_memory(JsonSchemaConverter, registry)
    written = write_by_record(converter, schema, [None])
    if not registry._schemas:
        id = register(registry, SchemaKind.JSON, '{"type":"object","properties":{"a":{"type":"string"}}}')
    else:
        id = 1
    known = [message for message in written if isinstance(message, bytes)]
    _check_reading(converter, [*known, *(framed(id, body) for body in bodies)])


def _check_reading(converter: JsonSchemaConverter, rows: list[Any]) -> None:
    expected = read_by_record(converter, rows)
    found = read_by_batch(converter, rows)
    if found is None:
        assert any(isinstance(one, type) for one in expected), "a good batch went to the record lane"
        return
    for row, one, other in zip(rows, expected, found, strict=True):
        assert not isinstance(one, type), f"{row!r} fails by record with {one}, by batch it is {other}"
        assert one.schema == other.schema
        assert same_value(one.value, other.value), f"{row!r} is {one.value!r} by record, {other.value!r} by batch"


def test_a_default_that_json_schema_lacks_fails_record_by_record() -> None:
    schema = SchemaBuilder.float64().default_value(math.inf).build()
    converter = with_memory(JsonSchemaConverter)
    assert write_by_batch(converter, schema, [1.0, 2.0]) is None
    assert write_by_record(converter, schema, [1.0]) == [DataError]
