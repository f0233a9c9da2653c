"""JSON in batches says what JSON by records says, whatever the messages are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from connect_core.api.data import Schema
from connect_core.converters.json import JsonConverter
from connect_core.converters.json.read.documents import parse_schemaless
from connect_core.converters.json.read.parser import MISSING, parse_json
from connect_core.converters.json.read.values import schemaless
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from tests.api.data.strategies import schemaless_rows, schemas, values_of
from tests.converters.lanes import read_by_batch, read_by_record, write_by_batch, write_by_record
from tests.converters.strategies import messages, similar_messages
from tests.full_run import examples
from tests.seeds import SEED

pytestmark = pytest.mark.slow


EXAMPLES = examples(40, 1000)
print(f"JSON lanes: CONNECT_SEED={SEED}")
CHECKS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
FLAGS = st.sampled_from(["true", "false"])
FORMATS = st.sampled_from(["BASE64", "NUMERIC"])


def _converter(**settings: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


@st.composite
def _typed_rows(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    schema = draw(schemas)
    return schema, draw(st.lists(values_of(schema), min_size=1, max_size=4))


@seed(SEED)
@CHECKS
@given(rows=similar_messages())
def test_similar_messages_read_equally(rows: list[bytes | None]) -> None:
    note(f"CONNECT_SEED={SEED}")
    _check_reading(_converter(schemas_enable="false"), rows)


@seed(SEED)
@CHECKS
@given(rows=st.lists(st.none() | messages, min_size=1, max_size=4), envelope=FLAGS)
def test_any_messages_read_equally(rows: list[bytes | None], envelope: str) -> None:
    note(f"CONNECT_SEED={SEED}")
    _check_reading(_converter(schemas_enable=envelope), rows)


@seed(SEED)
@CHECKS
@given(message=messages)
def test_quick_parser_equals_exact_one(message: bytes) -> None:
    note(f"CONNECT_SEED={SEED}")
    try:
        exact = parse_json(message)
    except DataError:
        exact = DataError
    try:
        quick = parse_schemaless(message)
    except DataError:
        quick = DataError
    assert same_value(quick, exact if exact is DataError else schemaless(None if exact is MISSING else exact))


@seed(SEED)
@CHECKS
@given(typed=_typed_rows(), envelope=FLAGS, decimals=FORMATS, replace=FLAGS)
def test_typed_rows_round_trip_equally(
    typed: tuple[Schema, list[Any]], envelope: str, decimals: str, replace: str
) -> None:
    note(f"CONNECT_SEED={SEED}")
    schema, values = typed
    converter = _converter(schemas_enable=envelope, decimal_format=decimals, replace_null_with_default=replace)
    written = write_by_record(converter, schema, values)
    in_batch = write_by_batch(converter, schema, values)
    assert in_batch is None or in_batch == written
    known = [message for message in written if isinstance(message, bytes)]
    if known:
        _check_reading(converter, known)


@seed(SEED)
@CHECKS
@given(values=schemaless_rows(), envelope=FLAGS)
def test_schemaless_rows_written_equally(values: list[Any], envelope: str) -> None:
    note(f"CONNECT_SEED={SEED}")
    converter = _converter(schemas_enable=envelope)
    in_batch = write_by_batch(converter, None, values)
    assert in_batch is None or in_batch == write_by_record(converter, None, values)


def _check_reading(converter: JsonConverter, rows: list[Any]) -> None:
    expected = read_by_record(converter, rows)
    found = read_by_batch(converter, rows)
    if found is None:
        return
    assert len(found) == len(expected)
    for row, one, other in zip(rows, expected, found, strict=True):
        assert not isinstance(one, type), f"{row!r} fails by record with {one}, by batch it is {other}"
        assert one.schema == other.schema
        assert same_value(one.value, other.value), f"{row!r} is {one.value!r} by record, {other.value!r} by batch"
