"""Messages that another implementation wrote, of any schema: both lanes read them equally, and they survive."""

from __future__ import annotations

import io
import random
from typing import Any

import fastavro
import pytest
from fastavro.utils import generate_one
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from connect_core.errors import DataError
from connect_core.java.equality import same_value
from tests.converters.avro.making import frame_of, made, register
from tests.converters.avro.strategies import avro_records
from tests.converters.lanes import read_by_batch, read_by_record, write_by_batch, write_by_record
from tests.full_run import examples
from tests.schema_registry.memory import MemoryRegistry
from tests.seeds import SEED

pytestmark = pytest.mark.slow

EXAMPLES = examples(40, 1000)
print(f"Avro of others: CONNECT_SEED={SEED}")
CHECKS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def bodies(avro: Any, numbers: random.Random) -> list[bytes]:
    """Return some bodies; what fastavro generates depends on the global generator alone."""
    random.seed(numbers.random())
    parsed = fastavro.parse_schema(_plain(avro))
    written = []
    for _ in range(4):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, generate_one(parsed))
        written.append(out.getvalue())
    return written


def _plain(avro: Any) -> Any:
    """Return a schema without logical types, of which fastavro generates what it cannot write."""
    if isinstance(avro, list):
        return [_plain(one) for one in avro]
    if isinstance(avro, dict):
        return {name: _plain(one) for name, one in avro.items() if name != "logicalType"}
    return avro


@seed(SEED)
@CHECKS
@given(avro=avro_records(), numbers=st.randoms(use_true_random=False), enhanced=st.sampled_from(["true", "false"]))
def test_messages_of_others_survive(avro: Any, numbers: random.Random, enhanced: str) -> None:
    note(f"CONNECT_SEED={SEED}")
    registry = MemoryRegistry()
    frame = frame_of(register(registry, avro))
    converter = made(registry, enhanced_avro_schema_support=enhanced)
    messages: list[bytes | None] = [frame + body for body in bodies(avro, numbers)]
    by_record = read_by_record(converter, messages)
    in_batch = read_by_batch(converter, messages)
    if in_batch is not None:
        assert [one for one in by_record if isinstance(one, type)] == []
        assert in_batch == by_record
    known = [one for one in by_record if not isinstance(one, type)]
    # Random bytes as times and decimals are refused, and nothing else.
    assert known or "time-millis" in str(avro) or "decimal" in str(avro) or "Multiple" in _reason(converter, messages)
    if not known:
        return
    schema, values = known[0].schema, [one.value for one in known]
    again = write_by_record(converter, schema, values)
    assert write_by_batch(converter, schema, values) in (None, again)
    if enhanced == "false":
        # Enums become strings, which a union may have already.
        return
    for one, message in zip(known, again, strict=True):
        assert isinstance(message, bytes), f"{one.value} cannot be written"
        found = converter.to_connect_data("t", message)
        if _has_optional_union(avro):
            # It is written with null as its field's default, which its schema then tells.
            assert converter.from_connect_data("t", found.schema, found.value) == message
            continue
        assert found.schema == schema
        assert same_value(found.value, one.value)


def _has_optional_union(avro: Any) -> bool:
    """Whether there is a union of null and several others in it."""
    if isinstance(avro, list):
        return ("null" in avro and len(avro) > 2) or any(map(_has_optional_union, avro))
    return isinstance(avro, dict) and any(map(_has_optional_union, avro.values()))


def _reason(converter: Any, messages: list[bytes | None]) -> str:
    try:
        converter.to_connect_data("t", messages[0])
    except DataError as error:
        return str(error)
    return ""
