"""Wire formats: one message and a batch say the same, and malformed ones are refused alike."""

from __future__ import annotations

import uuid
import zlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connect_core.errors import ConfigError, DataError
from connect_core.schema_registry.apicurio import GlobalIdCodec
from connect_core.schema_registry.choices import codec_of, strategy_of
from connect_core.schema_registry.codecs import ConfluentCodec, GlueCodec, IdCodec, NumberCodec
from connect_core.schema_registry.frames import FIRST_GUID
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

GUIDS = [uuid.UUID(int=7), uuid.UUID("89791762-2336-186f-9674-180a8e2d0ff0"), uuid.UUID(int=2**128 - 1)]
BODIES = st.binary(max_size=12)
NUMBERED = st.builds(lambda number, body: b"\0" + number.to_bytes(4, "big") + body, st.integers(0, 2**32 - 1), BODIES)
NAMED = st.builds(lambda guid, body: b"\1" + guid.bytes + body, st.sampled_from(GUIDS), BODIES)
GLUE = st.builds(lambda guid, body: b"\3\0" + guid.bytes + body, st.sampled_from(GUIDS), BODIES)
PACKED = st.builds(lambda guid, body: b"\3\5" + guid.bytes + zlib.compress(body), st.sampled_from(GUIDS), BODIES)
WIDE = st.builds(lambda number, body: b"\0" + number.to_bytes(8, "big") + body, st.integers(0, 2**62 - 1), BODIES)


def by_rows(codec: IdCodec, messages: list[bytes | None]) -> list[Any]:
    return [None if one is None else (found := codec.split(one)) and (found[0], bytes(found[1])) for one in messages]


def by_batch(codec: IdCodec, column: pa.Array) -> list[Any]:
    frames, guids = codec.split_batch(column)
    rows: list[Any] = []
    for number, start, end in zip(frames.ids.tolist(), frames.starts, frames.ends, strict=True):
        name = guids[number - FIRST_GUID] if number >= FIRST_GUID else number
        rows.append(None if number == -1 else (name, frames.data[start:end].tobytes()))
    return rows


@pytest.mark.parametrize(
    ("codec", "messages"),
    [
        (ConfluentCodec(), NUMBERED),
        (ConfluentCodec(), NAMED),
        (ConfluentCodec(), NUMBERED | NAMED),
        (NumberCodec(8), WIDE),
        (GlobalIdCodec(), WIDE),
        (GlueCodec(), GLUE),
        (GlueCodec(), GLUE | PACKED),
    ],
)
@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary()])
def test_batches_say_what_messages_say(codec: IdCodec, messages: Any, type_: pa.DataType) -> None:
    @settings(max_examples=30)
    @given(st.lists(st.none() | messages, max_size=8), st.integers(0, 3))
    def check(rows: list[bytes | None], skipped: int) -> None:
        column = pa.array([b"before"] * skipped + rows, type_)[skipped:]
        assert by_batch(codec, column) == by_rows(codec, rows)

    check()


@pytest.mark.parametrize("codec", [ConfluentCodec(), NumberCodec(8), GlobalIdCodec(), GlueCodec()])
@pytest.mark.parametrize(
    "bad", [b"", b"\0", b"\0\0\0\0", b"{}", b"\1" + bytes(15), b"\3\0" + bytes(15), b"\3\7" + bytes(16)]
)
def test_malformed_messages_are_refused_alike(codec: IdCodec, bad: bytes) -> None:
    with pytest.raises(DataError):
        codec.split(bad)
    with pytest.raises(DataError):
        codec.split_batch(pa.array([None, bad], pa.binary()))


def test_the_magic_byte_found_is_named() -> None:
    for split in (
        lambda: ConfluentCodec().split(b"{}"),
        lambda: ConfluentCodec().split_batch(pa.array([b"\0\0\0\0\1", b"{}"])),
    ):
        with pytest.raises(DataError, match=r"It is 123 \(0x7b\)"):
            split()


def test_a_batch_names_the_row() -> None:
    with pytest.raises(DataError, match="row 2 of the batch"):
        ConfluentCodec().split_batch(pa.array([b"\0\0\0\0\1", None, b"\0\0"], pa.binary()))


def test_bodies_are_not_copied() -> None:
    column = pa.array([b"\0\0\0\0\1abc"] * 3, pa.binary())
    frames, _ = ConfluentCodec().split_batch(column)
    assert frames.data.ctypes.data == column.buffers()[2].address


def test_many_guids_stay_apart() -> None:
    generator = np.random.default_rng(1)
    guids = [uuid.UUID(bytes=generator.bytes(16)) for _ in range(3000)]
    column = pa.array([b"\1" + guid.bytes for guid in guids] * 2, pa.binary())
    assert [name for name, _ in by_batch(ConfluentCodec(), column)] == [str(guid) for guid in guids] * 2


def test_compressed_bodies_are_bounded() -> None:
    bomb = b"\3\5" + bytes(16) + zlib.compress(bytes((64 << 20) + 1), 1)
    with pytest.raises(DataError, match="64 MiB"):
        GlueCodec().split(bomb)
    with pytest.raises(DataError, match="not zlib"):
        GlueCodec().split(b"\3\5" + bytes(16) + b"no zlib")


def test_frames_are_read_back() -> None:
    schema = RegisteredSchema(258, SchemaText(SchemaKind.AVRO, '"int"'), "t-value", 1, str(GUIDS[1]))
    registry = MemoryRegistry()
    assert ConfluentCodec().frame(schema, registry) == b"\0\0\0\1\2"
    assert NumberCodec(8).frame(schema, registry) == b"\0" + bytes(6) + b"\1\2"
    id, body = GlueCodec().split(GlueCodec().frame(schema, registry) + b"x")
    assert (id, bytes(body)) == (str(GUIDS[1]), b"x")
    with pytest.raises(DataError, match="no global ids"):
        GlobalIdCodec().frame(schema, registry)


def test_formats_and_strategies_have_names() -> None:
    assert isinstance(codec_of("glue"), GlueCodec)
    assert codec_of("apicurio-content-8") == NumberCodec(8)
    with pytest.raises(ConfigError, match="confluent, apicurio-global"):
        codec_of("os:system")
    with pytest.raises(ConfigError, match="RecordNameStrategy"):
        strategy_of("value.subject.name.strategy", "os:system", {})


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("TopicNameStrategy", "t-key", "t-value"),
        ("io.confluent.kafka.serializers.subject.RecordNameStrategy", "a.R", "a.R"),
        ("TopicRecordNameStrategy", "t-a.R", "t-a.R"),
    ],
)
def test_subjects(name: str, key: str, value: str) -> None:
    strategy = strategy_of("value.subject.name.strategy", name, {})
    assert (strategy.subject_name("t", True, "a.R"), strategy.subject_name("t", False, "a.R")) == (key, value)


def test_strategies_of_records_refuse_others() -> None:
    strategy = strategy_of("key.subject.name.strategy", "RecordNameStrategy", {})
    with pytest.raises(DataError, match=r"key.subject.name.strategy.* must only be a record"):
        strategy.subject_name("t", True, None)
