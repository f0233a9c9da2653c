"""Protobuf in batches says what it says by records, whatever the messages are, and survives a round trip."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import Schema, SchemaBuilder, SchemaType
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.converters.protobuf.schemas.compiler import compiled
from connect_core.converters.protobuf.schemas.messages import MessageSchema, message_class
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from connect_core.schema_registry.model import SchemaKind
from tests.api.data.strategies import struct_schemas, values_of
from tests.converters.lanes import read_by_batch, read_by_record, write_by_batch, write_by_record
from tests.converters.protobuf.strategies import protos
from tests.converters.registered import framed, register, with_memory
from tests.full_run import examples
from tests.schema_registry.memory import MemoryRegistry
from tests.seeds import SEED

pytestmark = pytest.mark.slow

EXAMPLES = examples(40, 500)
print(f"Protobuf lanes: CONNECT_SEED={SEED}")
CHECKS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
FLAGS = st.fixed_dictionaries(
    {
        name: st.sampled_from(["true", "false"])
        for name in (
            "wrapper_for_nullables",
            "optional_for_nullables",
            "generalized_sum_type_support",
            "enhanced_protobuf_schema_support",
            "int_for_enums",
            "flatten_unions",
            "generate_struct_for_nulls",
        )
    }
)


@seed(SEED)
@CHECKS
@given(proto=protos(), flags=FLAGS, cut=st.integers(0, 12), change=st.none() | st.binary(min_size=1, max_size=2))
def test_any_messages_are_read_equally(
    proto: tuple[str, list[Any]], flags: dict[str, str], cut: int, change: bytes | None
) -> None:
    note(f"CONNECT_SEED={SEED}")
    text, rows = proto
    files = descriptor_pb2.FileDescriptorSet.FromString(compiled(text, []))
    message = message_class(MessageSchema(files).at((0,)))
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    converter = with_memory(ProtobufConverter, registry, **flags)
    messages = [framed(id, b"\0" + message(**row).SerializeToString()) for row in rows]
    _check_reading(converter, messages)
    _check_reading(converter, [*messages, None])
    if change is not None:
        # A message that is cut, and has other bytes in it, is read equally, or fails in both lanes.
        last = messages[-1]
        _check_reading(converter, [*messages, last[: 6 + cut] + change + last[6 + cut :]])
        _check_reading(converter, [*messages, last[:-1] if len(last) > 6 else last])
        _check_reading(converter, [last[: 6 + cut] + change + last[6 + cut + len(change) :]])


@seed(SEED)
@CHECKS
@given(data=st.data(), schema=struct_schemas, flags=FLAGS)
def test_rows_round_trip_equally(data: st.DataObject, schema: Schema, flags: dict[str, str]) -> None:
    note(f"CONNECT_SEED={SEED}")
    named = _fit(schema, "Root")
    # A day that is not there is none, and neither is its default.
    flags = {**flags, "generate_struct_for_nulls": "false"}
    values = data.draw(st.lists(values_of(named), min_size=1, max_size=4))
    converter = with_memory(ProtobufConverter, scrub_invalid_names="true", **flags)
    written = write_by_record(converter, named, values)
    in_batch = write_by_batch(converter, named, values)
    assert in_batch is None or in_batch == written
    columns = Objects([named] * len(values), values).to_columns()
    if columns is not None:
        part = Columns(named, columns.array.slice(1))
        rest = converter.from_connect_batch(pa.array(["t"] * len(part)), part)
        assert rest is None or rest.to_pylist() == written[1:]
    known = [message for message in written if isinstance(message, bytes)]
    if not known:
        return
    _check_reading(converter, known)
    if flags["wrapper_for_nullables"] == "true":
        # Elements are optional once read, and are wrapped when they are written again.
        return
    for message in known:
        meaning = converter.to_connect_data("t", message)
        again = converter.from_connect_data("t", meaning.schema, meaning.value)
        assert again is not None
        assert again[5:] == message[5:], f"{meaning!r} is written in another way"


CLOSED = """syntax = "proto2"; message M {
  optional E e = 1; repeated E many = 2; optional E given = 4 [default = Y];
  oneof choice { E one = 5; int32 other = 6; } optional Late late = 7; %s
}
enum E { X = 0; Y = 2; }
enum Late { LAST = 9; FIRST = 0; }
"""
CLOSED_EDITION = """edition = "2023"; option features.enum_type = CLOSED;
message M { E e = 1; repeated E many = 2; } enum E { X = 1; Y = 2; }
"""


@pytest.mark.parametrize("flags", [{}, {"optional_for_proto2": "false"}, {"int_for_enums": "true"}])
@pytest.mark.parametrize("text", [CLOSED % "", CLOSED % "map<string, E> map = 3;", CLOSED_EDITION])
def test_unknown_numbers_of_closed_enums_are_read_equally(text: str, flags: dict[str, str]) -> None:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    converter = with_memory(ProtobufConverter, registry, **flags)
    known = framed(id, b"\0\x08\x02")
    for body in (
        b"",
        b"\x08\x09",
        b"\x10\x02\x10\x09\x10\x02",
        b"\x12\x02\x09\x02",
        b"\x1a\x05\x0a\x01k\x10\x09",
        b"\x20\x09",
        b"\x28\x09",
        b"\x38\x07",
    ):
        _check_reading(converter, [framed(id, b"\0" + body), known])
        _check_reading(converter, [framed(id, b"\0" + body)])
    found = converter.to_connect_batch(pa.array(["t"]), pa.array([framed(id, b"\0\x08\x02\x10\x02")], pa.binary()))
    assert isinstance(found, Columns) or flags.get("optional_for_proto2")


REQUIRED = """syntax = "proto2"; message M {
  required int32 a = 1; optional P p = 2; repeated P many = 3; message P { required string s = 1; }
}"""
REQUIRED_EDITION = """edition = "2023";
message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; P p = 2; repeated P many = 3;
  message P { string s = 1 [features.field_presence = LEGACY_REQUIRED]; }
}"""


@pytest.mark.parametrize("flags", [{}, {"optional_for_proto2": "false"}, {"generate_struct_for_nulls": "true"}])
@pytest.mark.parametrize("text", [REQUIRED, REQUIRED_EDITION])
def test_messages_without_required_fields_are_data_errors(text: str, flags: dict[str, str]) -> None:
    registry = MemoryRegistry()
    id = register(registry, SchemaKind.PROTOBUF, text)
    converter = with_memory(ProtobufConverter, registry, **flags)
    good = framed(id, b"\0\x08\x01\x12\x03\x0a\x01s")
    for body in (
        b"",
        b"\x12\x03\x0a\x01s",
        b"\x08\x01\x12\x00",
        b"\x08\x01\x1a\x00",
    ):
        bad = framed(id, b"\0" + body)
        with pytest.raises(DataError, match="lacks required fields: "):
            converter.to_connect_data("t", bad)
        _check_reading(converter, [bad])
        _check_reading(converter, [good, bad])
    _check_reading(converter, [good, framed(id, b"\0\x08\x02")])
    found = converter.to_connect_batch(pa.array(["t"]), pa.array([good], pa.binary()))
    assert isinstance(found, Columns) or "generate_struct_for_nulls" in flags


def _fit(schema: Schema, name: str, optional: bool | None = None) -> Schema:
    """Return a schema with names and traits that Protobuf can say, and no arrays or maps where it has none."""
    optional = schema.optional if optional is None else optional
    if schema.type is SchemaType.STRUCT:
        builder = SchemaBuilder.struct().name(name)
        for place, field in enumerate(schema.fields):
            builder.field(f"f{place}", _fit(field.schema, f"{name}N{place}"))
        return builder.build().replace(optional=optional)
    if schema.type is SchemaType.ARRAY:
        assert schema.value_schema is not None
        element = _fit(schema.value_schema, f"{name}A", False)
        while element.type in (SchemaType.ARRAY, SchemaType.MAP):
            element = element.value_schema or element
        return SchemaBuilder.array(element.replace(optional=False)).build().replace(optional=optional)
    if schema.type is SchemaType.MAP:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        key = _fit(schema.key_schema, f"{name}K", False)
        value = _fit(schema.value_schema, f"{name}V", False)
        key = Schema(SchemaType.STRING) if key.name else key
        return SchemaBuilder.map(key, value).name(name).build().replace(optional=optional)
    plain = schema.name is not None and schema.name.startswith("org.apache.kafka.connect.data.")
    traits = schema if plain else Schema(schema.type)
    return traits.replace(optional=optional, default=None, doc=None)


def _check_reading(converter: ProtobufConverter, rows: list[Any]) -> None:
    expected = read_by_record(converter, rows)
    found = read_by_batch(converter, rows)
    if found is None:
        assert any(isinstance(one, type) for one in expected), "a good batch went to the record lane"
        return
    for row, one, other in zip(rows, expected, found, strict=True):
        assert not isinstance(one, type), f"{row!r} fails by record with {one}, by batch it is {other}"
        assert one.schema == other.schema
        assert same_value(one.value, other.value), f"{row!r} is {one.value!r} by record, {other.value!r} by batch"
