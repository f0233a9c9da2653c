"""Whatever the schema: both lanes write the same bytes, read the same values, and what was written is read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import INT64_SCHEMA, Int8, Int16, Int32, Schema, SchemaBuilder, Struct
from connect_core.converters.avro import AvroConverter
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from tests.api.data.strategies import schemaless_rows, schemas, values_of
from tests.converters.avro.making import frame_of, made, register, round_trip_schema, round_trip_value
from tests.converters.avro.samples import EVERYTHING, everything
from tests.converters.lanes import read_by_batch, read_by_record, write_by_batch, write_by_record
from tests.full_run import examples
from tests.schema_registry.memory import MemoryRegistry
from tests.seeds import SEED

pytestmark = pytest.mark.slow

EXAMPLES = examples(40, 1000)
print(f"Avro lanes: CONNECT_SEED={SEED}")
CHECKS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
FLAGS = st.sampled_from(["true", "false"])


@st.composite
def _typed_rows(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    schema = draw(schemas)
    return schema, draw(st.lists(values_of(schema), min_size=1, max_size=4))


def _check_reading(converter: AvroConverter, rows: Sequence[bytes | None]) -> bool:
    """Check that both lanes read the same → whether columns did."""
    found = read_by_batch(converter, rows)
    if found is None:
        return False
    expected = read_by_record(converter, rows)
    assert len(found) == len(expected)
    for row, one, other in zip(rows, expected, found, strict=True):
        assert not isinstance(one, type), f"{row!r} fails by record with {one}, by batch it is {other}"
        assert one.schema == other.schema
        assert same_value(one.value, other.value), f"{row!r} is {one.value!r} by record, {other.value!r} by batch"
    return True


@seed(SEED)
@CHECKS
@given(typed=_typed_rows(), enhanced=FLAGS, generalized=FLAGS)
def test_typed_rows_survive_in_both_lanes(typed: tuple[Schema, list[Any]], enhanced: str, generalized: str) -> None:
    note(f"CONNECT_SEED={SEED}")
    schema, values = typed
    flags = {"enhanced_avro_schema_support": enhanced, "generalized_sum_type_support": generalized}
    converter = made(scrub_invalid_names="true", **flags)
    written = write_by_record(converter, schema, values)
    in_batch = write_by_batch(converter, schema, values)
    assert in_batch is None or in_batch == written
    for value, message in zip(values, written, strict=True):
        if not isinstance(message, bytes):
            continue
        read = converter.to_connect_data("t", message)
        assert read.schema == round_trip_schema(schema)
        assert same_value(read.value, round_trip_value(schema, value)), f"{value!r} became {read.value!r}"
    _check_reading(converter, [one for one in written if one is None or isinstance(one, bytes)])


@seed(SEED)
@CHECKS
@given(typed=_typed_rows(), position=st.integers(0, 40), byte=st.binary(max_size=2), row=st.integers(0, 3))
def test_damaged_rows_read_equally(typed: tuple[Schema, list[Any]], position: int, byte: bytes, row: int) -> None:
    note(f"CONNECT_SEED={SEED}")
    schema, values = typed
    converter = made(scrub_invalid_names="true")
    written = [one for one in write_by_record(converter, schema, values * 2) if isinstance(one, bytes)]
    if not written:
        return
    damaged = written[row % len(written)]
    body = damaged[5:]
    place = position % (len(body) + 1)
    written[row % len(written)] = damaged[:5] + body[:place] + byte + body[place + 1 :]
    _check_reading(converter, written)


def _widened(value: Any) -> Any:
    """Return a schemaless value with the one width that Avro has for small integers."""
    if isinstance(value, list):
        return [_widened(item) for item in value]
    if isinstance(value, dict):
        return {key: _widened(item) for key, item in value.items()}
    return Int32(value) if isinstance(value, Int8 | Int16) else value


@seed(SEED)
@CHECKS
@given(values=schemaless_rows())
def test_schemaless_rows_survive(values: list[Any]) -> None:
    note(f"CONNECT_SEED={SEED}")
    converter = made()
    for value in values:
        try:
            message = converter.from_connect_data("t", None, value)
        except DataError:
            continue
        read = converter.to_connect_data("t", message)
        assert read.schema is None
        assert same_value(read.value, _widened(value))
        assert converter.from_connect_data("t", None, read.value) == message
    assert write_by_batch(converter, None, values) is None or all(value is None for value in values)


@seed(SEED)
@CHECKS
@given(one=_typed_rows(), other=_typed_rows(), order=st.randoms(use_true_random=False))
def test_batches_of_two_schemas_read_equally(
    one: tuple[Schema, list[Any]], other: tuple[Schema, list[Any]], order: Any
) -> None:
    note(f"CONNECT_SEED={SEED}")
    converter = made(scrub_invalid_names="true")
    written = [*write_by_record(converter, *one), *write_by_record(converter, *other)]
    rows = [message for message in written if message is None or isinstance(message, bytes)]
    order.shuffle(rows)
    _check_reading(converter, rows)


@seed(SEED)
@CHECKS
@given(data=st.binary(max_size=40))
def test_any_body_reads_or_is_a_data_error(data: bytes) -> None:
    note(f"CONNECT_SEED={SEED}")
    registry = MemoryRegistry()
    converter = made(registry)
    list_of = {"type": "array", "items": ["null", "long", "string", {"type": "map", "values": "bytes"}]}
    id = register(registry, {"type": "record", "name": "R", "fields": [{"name": "a", "type": list_of}]})
    message = frame_of(id) + data
    try:
        converter.to_connect_data("t", message)
    except DataError:
        assert converter.to_connect_batch(pa.array(["t"]), pa.array([message])) is None
    else:
        _check_reading(converter, [message, message])


def test_lanes_take_columns() -> None:
    """The tests above say nothing of columns that are always refused."""
    converter = made()
    values = [everything(number) for number in range(20)]
    written = write_by_batch(converter, EVERYTHING, values)
    assert written == write_by_record(converter, EVERYTHING, values)
    assert written is not None
    assert _check_reading(converter, list(written))
    assert _check_reading(converter, [None, *written])
    assert converter.from_connect_batch(pa.array(["t"]), Objects([EVERYTHING], [None])) is None


@pytest.mark.parametrize(("first", "size"), [(0, 20), (1, 7), (13, 7), (5, 1), (9, 0)])
def test_parts_of_columns_are_written(first: int, size: int) -> None:
    """A slice of an array keeps the buffers of the whole."""
    schema = EVERYTHING.replace(optional=True)
    values = [None if number % 6 == 5 else everything(number) for number in range(20)]
    values = [value and Struct.of_values(schema, value.values) for value in values]
    columns = Objects([schema] * 20, values).to_columns()
    assert columns is not None
    part = columns.array.slice(first, size)
    converter = made()
    found = converter.from_connect_batch(pa.array(["t"] * size, pa.string()), Columns(schema, part))
    assert found is not None
    assert found.to_pylist() == write_by_record(converter, schema, values[first : first + size])


@pytest.mark.parametrize(("rows", "length", "is_read"), [(1, 20, False), (200, 4, True)])
def test_long_lists_in_lists_are_left_to_records(rows: int, length: int, is_read: bool) -> None:
    """The steps of columns multiply with the levels: 60 x 60 x 60 numbers took a hundred times as long as by record."""
    deep = SchemaBuilder.array(SchemaBuilder.array(SchemaBuilder.array(INT64_SCHEMA).build()).build()).build()
    schema = SchemaBuilder.struct().field("a", deep).build()
    cube = [[list(range(length)) for _ in range(length)] for _ in range(length)]
    converter = made()
    written = write_by_record(converter, schema, [Struct(schema).put("a", cube)] * rows)
    assert _check_reading(converter, written) is is_read
