"""Columns written as JSON: characters beyond the basic plane."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns
from connect_core.api.data import STRING_SCHEMA
from connect_core.converters.json import JsonConverter

pytestmark = pytest.mark.slow


def _converter() -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, False)
    return converter


def test_only_texts_with_such_characters_are_escaped() -> None:
    texts = ["unused", "plain", 'a"\U0001f600\\', "é", "\U00020000\U00020000", ""]
    column = pa.array(texts).slice(1)
    converter = _converter()
    written = converter.from_connect_batch(pa.array(["t"] * len(column)), Columns(STRING_SCHEMA, column))
    assert written is not None
    assert written.to_pylist() == [converter.from_connect_data("t", STRING_SCHEMA, text) for text in texts[1:]]


def test_thousands_of_distinct_characters_cost_no_pass_each() -> None:
    texts = [f"{'x' * 200}{chr(0x20000 + number)}" for number in range(4000)]
    topic, column, converter = pa.array(["t"] * len(texts)), pa.array(texts), _converter()
    begun = time.process_time()
    expected = [converter.from_connect_data("t", STRING_SCHEMA, text) for text in texts]
    by_records = time.process_time() - begun
    begun = time.process_time()
    written = converter.from_connect_batch(topic, Columns(STRING_SCHEMA, column))
    by_batch = time.process_time() - begun
    assert written is not None
    assert written.to_pylist() == expected
    assert by_batch < 10 * by_records + 0.2
