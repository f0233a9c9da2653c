"""Messages of others: good ones by another implementation, and bad ones, in both lanes."""

from __future__ import annotations

import io
import time
from decimal import Decimal as Number
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import (
    INT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    STRING_SCHEMA,
    Instant,
    SchemaAndValue,
    SchemaBuilder,
    Struct,
)
from connect_core.converters.avro import AvroConverter
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from tests.converters.avro.making import frame_of, made, register, text_of
from tests.converters.avro.samples import EVERYTHING, everything
from tests.converters.lanes import read_by_batch, write_by_batch, write_by_record
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

PAIR = {
    "type": "record",
    "name": "Pair",
    "fields": [{"name": "id", "type": "long"}, {"name": "text", "type": ["null", "string"]}],
}


@pytest.fixture
def registry() -> MemoryRegistry:
    return MemoryRegistry()


def encoded(avro: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(avro), value)
    return out.getvalue()


def decoded(avro: Any, message: bytes) -> Any:
    body = io.BytesIO(message[5:])
    return fastavro.schemaless_reader(body, fastavro.parse_schema(avro), None)


def batch(converter: AvroConverter, messages: list[bytes | None]) -> Columns | Objects | None:
    return converter.to_connect_batch(pa.array(["t"] * len(messages)), pa.array(messages, pa.binary()))


def plain(value: Any) -> Any:
    """Return Connect values as fastavro has them, but instants."""
    if isinstance(value, Struct):
        fields = zip(value.schema.fields, value.values, strict=True)
        return {field.name: plain(item) for field, item in fields}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def test_another_implementation_reads_what_is_written(registry: MemoryRegistry) -> None:
    converter = made(registry)
    for number in range(12):
        value = everything(number)
        message = converter.from_connect_data("t", EVERYTHING, value)
        assert message is not None
        found = decoded(text_of(registry), message)
        for name in ("int8", "int16", "int32", "int64", "float64", "boolean", "string", "bytes", "lists"):
            assert found[name] == plain(value[name]), name
        assert found["decimal"] == value["decimal"]
        assert Instant.of(found["date"]) == value["date"]
        assert Instant.of(found["time"]) == value["time"]
        assert found["timestamp"] is None or Instant.of(found["timestamp"]) == value["timestamp"]
        assert found["default"] == value["default"]
        assert found["map"] == plain(value["map"])
        assert {one["key"]: one["value"] for one in found["entries"]} == value["entries"]
        assert found["union"] == next((one for one in (plain(value["union"]) or {}).values() if one is not None), None)


MONEY = {"type": "fixed", "name": "M", "size": 5, "logicalType": "decimal", "precision": 9, "scale": 2}
OTHERS = {
    "type": "record",
    "name": "Others",
    "fields": [
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "fixed", "type": {"type": "fixed", "name": "F", "size": 3}},
        {"name": "money", "type": MONEY},
        {"name": "color", "type": ["null", {"type": "enum", "name": "E", "symbols": ["RED", "BLUE"]}]},
        {"name": "many", "type": ["long", "null", "string", {"type": "array", "items": "E"}, "F", "double"]},
    ],
}  # fmt: skip
OTHER_VALUES = [
    (12, "0f8fad5b-d9cb-469f-a165-70867728950e", b"abc", Number("-1.25"), "BLUE", 5),
    (-1, "", b"\0\0\0", Number("12345.00"), None, None),
    (1 << 62, "x", b"\xff" * 3, Number("0.00"), "RED", "text"),
    (0, "x", b"xyz", Number("0.01"), "RED", ["RED", "BLUE", "RED"]),
    (7, "y", b"xyz", Number("0.01"), "RED", ("F", b"123")),
    (7, "z", b"xyz", Number("-0.01"), None, 0.5),
]


def test_messages_of_another_implementation_are_read(registry: MemoryRegistry) -> None:
    id, converter = register(registry, OTHERS), made(registry)
    names = [field["name"] for field in OTHERS["fields"]]  # type: ignore[index]
    messages: list[bytes | None] = []
    for row in OTHER_VALUES:
        given = dict(zip(names, row, strict=True))
        given["micros"] = fastavro.read.LOGICAL_READERS["long-timestamp-micros"](row[0]) if row[0] < 1 << 60 else row[0]
        messages.append(frame_of(id) + encoded(OTHERS, given))
    read = [converter.to_connect_data("t", message).value for message in messages]
    for row, found in zip(OTHER_VALUES, read, strict=True):
        assert list(found.values)[:5] == list(row[:5])
        many = [] if found["many"] is None else [one for one in found["many"].values if one is not None]
        expected = row[5][1] if isinstance(row[5], tuple) else row[5]
        assert many == ([] if expected is None else [expected])
    in_batch = read_by_batch(converter, messages)
    assert in_batch is not None
    assert all(same_value(one.value, other) for one, other in zip(in_batch, read, strict=True))


def test_enums_fixed_and_unions_are_written_as_they_were(registry: MemoryRegistry) -> None:
    id = register(registry, OTHERS)
    converter = made(registry, enhanced_avro_schema_support="true")
    body = encoded(OTHERS, dict(zip([f["name"] for f in OTHERS["fields"]], OTHER_VALUES[3], strict=True)))  # type: ignore[index]
    read = converter.to_connect_data("t", frame_of(id) + body)
    assert (converter.from_connect_data("t", read.schema, read.value) or b"")[5:] == body
    values = [read.value] * 3
    assert write_by_batch(converter, read.schema, values) in (None, write_by_record(converter, read.schema, values))
    kinds = [field["type"] for field in text_of(registry, 2)["fields"]]
    assert [kind["type"] for kind in kinds[2:4]] == ["fixed", "fixed"]
    assert kinds[4][1]["type"] == "enum"
    assert kinds[5][1] == "null" or kinds[5][0] == "null"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"", "Unknown magic byte"),
        (b"\1\0\0\0\1\2\0", "Unknown magic byte"),
        (b"\0\0\0\0", "Unknown magic byte"),
        (b"\0\0\0\0\x09\2\0", "Schema 9 not found"),
        (frame_of(1), "schema id 1: the message ends before its value does, after 0 bytes"),
        (frame_of(1) + b"\2", "the message ends before its value does"),
        (frame_of(1) + b"\2\2\6ab", "a length of 3 bytes where 2 are left"),
        (frame_of(1) + b"\2\2\1ab", "a length of -1 bytes"),
        (frame_of(1) + b"\2\0\0", "1 of 3 bytes are left after the value"),
        (frame_of(1) + b"\2\4", "branch 2 of a union of 2"),
        (frame_of(1) + b"\2\1", "branch -1 of a union of 2"),
        (frame_of(1) + b"\xff" * 10 + b"\0", "Invalid long encoding: more than 10 bytes"),
        (frame_of(1) + b"\xff" * 9 + b"\x02\0", "Invalid long encoding: more than 64 bits"),
        (frame_of(1) + b"\2\2" + b"\xfe" * 9 + b"\1", "a length of"),
    ],
)
def test_bad_message_is_a_data_error(registry: MemoryRegistry, message: bytes, expected: str) -> None:
    register(registry, PAIR)
    converter = made(registry)
    with pytest.raises(DataError, match=f"Failed to deserialize data for topic orders to Avro.*{expected}"):
        converter.to_connect_data("orders", message)
    good = frame_of(1) + b"\2\2\4ab"
    assert batch(converter, [message]) is None
    assert batch(converter, [good, message, good]) is None


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_two_bodies_that_parse_only_together_are_refused(registry: MemoryRegistry, cut: int) -> None:
    """A body cut short and one as much longer are as long together as two good ones, and parse as two."""
    register(registry, PAIR)
    converter = made(registry)
    bodies = [encoded(PAIR, {"id": number, "text": "abc"}) for number in range(2)]
    shifted = [bodies[0][:-cut], bodies[0][-cut:] + bodies[1]]
    assert batch(converter, [frame_of(1) + body for body in bodies]) is not None
    assert batch(converter, [frame_of(1) + body for body in shifted]) is None


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"\x82\x00\0", [1, None]),
        (b"\xff" * 9 + b"\1\0", [-(1 << 63), None]),
        (b"\xfe" * 1 + b"\xff" * 8 + b"\1\0", [(1 << 63) - 1, None]),
        (b"\0\x82\x00\x86\x80\x00abc", [0, "abc"]),
        (b"\0\2\4\xff\xc3", [0, "\ufffd\ufffd"]),
    ],
)
def test_unusual_bodies_read_equally(registry: MemoryRegistry, body: bytes, value: list[Any]) -> None:
    """Numbers in more bytes than they need, the longest ones, and text that is not UTF-8."""
    register(registry, PAIR)
    converter = made(registry)
    message = frame_of(1) + body
    assert list(converter.to_connect_data("t", message).value.values) == value
    found = read_by_batch(converter, [message, message])
    assert found is None or [list(one.value.values) for one in found] == [value, value]


def test_union_of_one_branch_is_read(registry: MemoryRegistry) -> None:
    register(registry, ["long"])
    messages: list[bytes | None] = [frame_of(1) + b"\0\4", frame_of(1) + b"\0\6"]
    flat = read_by_batch(made(registry, flatten_singleton_unions="true"), messages)
    assert flat == [SchemaAndValue(INT64_SCHEMA, 2), SchemaAndValue(INT64_SCHEMA, 3)]
    whole = read_by_batch(made(registry), messages)
    assert whole == [made(registry).to_connect_data("t", one) for one in messages]
    assert [one.value["long"] for one in whole] == [2, 3]
    for settings in ({}, {"flatten_singleton_unions": "true"}):
        with pytest.raises(DataError, match="branch 1 of a union of 1"):
            made(registry, **settings).to_connect_data("t", frame_of(1) + b"\2\4")


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
        pa.array([[1, 2], []], pa.large_list(pa.int32())),
        pa.array([[1, 2], [None]], pa.list_(pa.int64())),
        pa.array([{"a": 1}, {"a": 2}]),
    ],
    ids=str,
)
def test_columns_of_other_producers(array: pa.Array) -> None:
    """Columns of another form are written as records of them, or not at all."""
    schema, converter = SchemaBuilder.array(INT64_SCHEMA).build(), made()
    found = converter.from_connect_batch(pa.array(["t"] * len(array)), Columns(schema, array))
    assert found is None or found.to_pylist() == write_by_record(converter, schema, array.to_pylist())


LISTS = {"type": "record", "name": "L", "fields": [{"name": "a", "type": {"type": "array", "items": "long"}}]}
EMPTY = {"type": "array", "items": {"type": "record", "name": "Empty", "fields": []}}


def test_lists_in_blocks_are_read(registry: MemoryRegistry) -> None:
    register(registry, LISTS)
    converter = made(registry)
    several, sized = b"\2\2\4\4\6\0", b"\5\6\2\4\6\0"
    for body in (several, sized):
        assert list(converter.to_connect_data("t", frame_of(1) + body).value.values) == [[1, 2, 3]]
    assert batch(converter, [frame_of(1) + several]) is None
    found = read_by_batch(converter, [frame_of(1) + sized, frame_of(1) + b"\0"])
    assert found is not None
    assert [list(one.value.values) for one in found] == [[[1, 2, 3]], [[]]]


@pytest.mark.parametrize(
    ("avro", "body"), [(LISTS, b"\xfe\xff\xff\xff\x0f\2\0"), (EMPTY, b"\xfe\xff\xff\xff\xff\x0f\0")]
)
def test_list_of_more_items_than_bytes_is_refused(registry: MemoryRegistry, avro: Any, body: bytes) -> None:
    register(registry, avro)
    converter = made(registry)
    with pytest.raises(DataError, match=r"a block of .* items, more than the message can hold"):
        converter.to_connect_data("t", frame_of(1) + body)
    assert batch(converter, [frame_of(1) + body]) is None


def test_lists_that_only_claim_items_are_refused_at_once(registry: MemoryRegistry) -> None:
    """Each body but the last claims the items of the last, and would be read into those after it, round by round."""
    register(registry, LISTS)
    size = 300_000
    claim = frame_of(1) + encoded({"type": "long"}, size)
    messages: list[bytes | None] = [*[claim + b"\2"] * 2000, claim + b"\2" * size + b"\0"]
    converter = made(registry)
    start = time.process_time()
    assert batch(converter, messages) is None
    assert time.process_time() - start < 5


def test_items_without_bytes_are_counted_through_a_message(registry: MemoryRegistry) -> None:
    register(registry, {"type": "array", "items": EMPTY})
    converter = made(registry)
    inner = encoded({"type": "long"}, 90_000) + b"\0"
    assert len(converter.to_connect_data("t", frame_of(1) + b"\2" + inner + b"\0").value[0]) == 90_000
    start = time.process_time()
    with pytest.raises(DataError, match="more than the message can hold"):
        converter.to_connect_data("t", frame_of(1) + encoded({"type": "long"}, 10_000) + inner * 10_000 + b"\0")
    assert time.process_time() - start < 5


def test_schemaless_value_without_end_is_refused(registry: MemoryRegistry) -> None:
    converter = made(registry)
    deep: Any = []
    for _ in range(150):
        deep = [deep]
    message = converter.from_connect_data("t", None, deep)
    assert message is not None
    assert converter.to_connect_data("t", message).value == deep
    for _ in range(100):
        deep = [deep]
    with pytest.raises(DataError, match="nested deeper than the 200 levels allowed"):
        converter.from_connect_data("t", None, deep)
    level = bytes(7) + b"\2\2"
    with pytest.raises(DataError, match="nested deeper than the 200 levels allowed"):
        converter.to_connect_data("t", message[:5] + level * 100_000)


def test_schema_that_cannot_be_used_names_its_id(registry: MemoryRegistry) -> None:
    register(registry, {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]})
    with pytest.raises(DataError, match=r"topic t to Avro, schema id 1: .*the record Node refers to itself"):
        made(registry).to_connect_data("t", frame_of(1) + b"\0")


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (INT64_SCHEMA, "x", "Invalid type for INT64: class str"),
        (INT64_SCHEMA, True, "Invalid type for INT64: class bool"),
        (INT64_SCHEMA, 1 << 63, "Invalid type for INT64: 9223372036854775808, out of range"),
        (STRING_SCHEMA, 5, "Invalid type for STRING: class int"),
        (SchemaBuilder.array(INT64_SCHEMA).build(), [None], "Found null value for non-optional schema"),
        (SchemaBuilder.array(INT64_SCHEMA).build(), {}, "Invalid type for ARRAY: class dict"),
        (None, Instant(0), "Unknown Java type for schemaless data: class Instant"),
        (SchemaBuilder.struct().field("é", INT64_SCHEMA).build(), "x", "is not a valid Avro name"),
    ],
)
def test_value_that_does_not_fit_is_a_data_error(schema: Any, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"Failed to serialize Avro data from topic orders: .*{message}"):
        made().from_connect_data("orders", schema, value)


def test_null_is_refused_where_it_may_not_be() -> None:
    converter = made()
    assert converter.from_connect_data("t", None, None) is None
    assert converter.from_connect_data("t", OPTIONAL_INT64_SCHEMA, None) is None
    with pytest.raises(DataError, match="Found null value for non-optional schema"):
        converter.from_connect_data("t", INT64_SCHEMA, None)


def test_topics_have_schemas_of_their_own(registry: MemoryRegistry) -> None:
    converter = made(registry)
    topic = pa.array(["a", "b", "a"]).dictionary_encode()
    found = converter.from_connect_batch(topic, Objects([INT64_SCHEMA] * 3, [1, 2, 3]))
    assert found is not None
    assert found.to_pylist() == [frame_of(1) + bytes([two]) for two in (2, 4, 6)]
    assert registry.latest("a-value").id == registry.latest("b-value").id == 1


def test_schema_that_cannot_be_used_is_parsed_once(registry: MemoryRegistry) -> None:
    """A million messages of it, with errors.tolerance=all, must not parse it a million times."""
    big = [{"name": f"f{number}", "type": "long"} for number in range(20_000)]
    register(registry, {"type": "record", "name": "R", "fields": [*big, {"name": "bad", "type": "null"}]})
    converter = made(registry)
    seconds = []
    for _ in range(20):
        start = time.process_time()
        with pytest.raises(DataError, match="Standalone null schemas are not supported"):
            converter.to_connect_data("t", frame_of(1) + b"\0")
        seconds.append(time.process_time() - start)
    assert sum(seconds[1:]) < seconds[0]


def test_schema_too_deep_is_a_data_error() -> None:
    schema = INT64_SCHEMA
    for _ in range(2000):
        schema = SchemaBuilder.array(schema).build()
    with pytest.raises(DataError, match="Failed to serialize Avro data from topic t"):
        made().from_connect_data("t", schema, [])
