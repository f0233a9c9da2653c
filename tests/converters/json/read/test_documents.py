from __future__ import annotations

import json
import math
from typing import Any

import pytest

from connect_core.api.data import INT32_SCHEMA, Struct
from connect_core.converters.json import JsonConverter
from connect_core.errors import DataError, SerializationError


def _converter(**settings: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


def _plain(text: bytes) -> Any:
    return _converter(schemas_enable="false").to_connect_data("t", text).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a":9223372036854775807}', {"a": 2**63 - 1}),
        (b'{"a":9223372036854775808}', {"a": -(2**63)}),
        (b'{"a":1e400}', {"a": math.inf}),
        (b'{"a":"123-45-0678"}', {"a": "123-45-0678"}),
        (b'{"a":18446744073709551616.0}', {"a": 2.0**64}),
    ],
)
def test_odd_numbers_are_exact(text: bytes, expected: Any) -> None:
    assert _plain(text) == expected


def test_negative_zero_is_zero() -> None:
    assert math.copysign(1, _plain(b"[-0.0]")[0]) == 1


@pytest.mark.parametrize(
    "text", [b"[" * 1500 + b"]" * 1500, b'{"a":' * 1500, b'{"a":"\xff"}', b'{"a":1', b'{"a":' + b"9" * 1200]
)
def test_bad_bytes_are_data_errors(text: bytes) -> None:
    with pytest.raises(DataError, match="Converting byte") as caught:
        _plain(text)
    assert isinstance(caught.value.__cause__, SerializationError)


def test_envelope_is_known_again() -> None:
    converter = _converter()
    message = {"schema": {"type": "struct", "fields": [{"field": "a", "type": "int32"}]}, "payload": {"a": 1}}
    first = converter.to_connect_data("t", json.dumps(message, separators=(",", ":")).encode())
    message["payload"] = {"a": 2}
    second = converter.to_connect_data("t", json.dumps(message, separators=(",", ":")).encode())
    assert second.schema is first.schema
    assert first.schema is not None
    assert second.value == Struct(first.schema).put("a", 2)


@pytest.mark.parametrize("payload", [b'1,"x":2', b"1}{", b'1},"payload":{"a":2'])
def test_known_prefix_does_not_hide_more_fields(payload: bytes) -> None:
    converter = _converter()
    prefix = b'{"schema":{"type":"int32"},"payload":'
    assert converter.to_connect_data("t", prefix + b"1}").value == 1
    other = _converter()
    results = []
    for one in (converter, other):
        try:
            results.append(one.to_connect_data("t", prefix + payload + b"}").value)
        except DataError as error:
            results.append(str(error))
    assert results[0] == results[1]


def test_schema_content_reads_bare_payloads() -> None:
    converter = _converter(schema_content='{"type":"int32"}')
    read = converter.to_connect_data("t", b"7")
    assert (read.schema, read.value) == (INT32_SCHEMA, 7)


def test_float32_is_rounded_once() -> None:
    # Halfway between two binary32 values as a double, but not as written.
    message = b'{"schema":{"type":"float"},"payload":1.00000017881393432617187499}'
    assert float(_converter().to_connect_data("t", message).value) == 1.0000001192092896
