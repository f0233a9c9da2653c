"""Batches to bytes: what a user's converter may give for a batch, and what it may not."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Batch, Data
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import SourceRecord, TimestampType
from connect_core.converters.json import JsonConverter
from connect_core.converters.string import StringConverter
from connect_core.errors import ConnectError
from connect_core.kafka.raw_batch import RawBatch
from tests.task.equipment import strings, tolerance


class GivingConverter(StringConverter):
    """Gives for a batch what it was told to; records are written as text."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.configure({}, False)

    def from_connect_batch(self, topic: pa.Array, data: Data) -> Any:
        return self.answer


def lines(count: int) -> Batch:
    records = [
        SourceRecord("t", value_schema=STRING_SCHEMA, value=f"line {number}", source_partition={}, source_offset={})
        for number in range(count)
    ]
    return Batch.from_records(records)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.binary(1)])
def test_any_column_of_bytes_or_text_is_produced(kind: pa.DataType) -> None:
    converters = strings(tolerance())
    converters.value = GivingConverter(pa.array(["a", None, "b"], kind))
    found = converters.from_connect(lines(3))
    assert found.values.to_pylist() == [b"a", None, b"b"]
    assert found.values.type in (pa.binary(), pa.large_binary())
    assert converters.fallbacks == 0


@pytest.mark.parametrize("answer", [None, [b"a", b"b"], pa.array([1, 2])])
def test_what_is_no_such_column_goes_by_records(answer: Any) -> None:
    converters = strings(tolerance())
    converters.value = GivingConverter(answer)
    found = converters.from_connect(lines(2))
    assert found.values.to_pylist() == [b"line 0", b"line 1"]
    assert converters.fallbacks == 1


def test_rows_a_converter_loses_fail_the_batch() -> None:
    converters = strings(tolerance(tolerate=True))
    converters.value = GivingConverter(pa.array([b"a"]))
    with pytest.raises(ConnectError, match=r"GivingConverter\.from_connect_batch returned 1 rows for 2"):
        converters.from_connect(lines(2))


@pytest.mark.parametrize("message", [b'{"\\ud83d":1}', b'{"a":' * 400 + b"1" + b"}" * 400])
def test_json_that_columns_cannot_hold_is_read_by_records(message: bytes) -> None:
    converters = strings(tolerance())
    converters.value = JsonConverter()
    converters.value.configure({"schemas.enable": "false"}, False)
    column = pa.array([message], pa.binary())
    zero = pa.array([0])
    raw = RawBatch("t", zero.cast(pa.int32()), zero, zero, TimestampType.CREATE_TIME, pa.nulls(1, pa.binary()), column)
    (record,) = converters.to_connect(raw).to_records()
    assert record.value == json.loads(message)
