from __future__ import annotations

from typing import Any

import pytest

from connect_core.api.data import BYTES_SCHEMA, STRING_SCHEMA, Int8
from connect_core.converters.simple_header import SimpleHeaderConverter


def _converter() -> SimpleHeaderConverter:
    converter = SimpleHeaderConverter()
    converter.configure({})
    return converter


@pytest.mark.parametrize(("value", "text"), [("x", b"x"), (Int8(5), b"5"), ([1, 2], b"[1,2]"), (None, None)])
def test_writes_text(value: Any, text: bytes | None) -> None:
    assert _converter().from_connect_header("t", "h", None, value) == text


def test_reads_what_text_says() -> None:
    read = _converter().to_connect_header("t", "h", b"5")
    assert (read.schema is not None and read.schema.type.value, read.value) == ("int8", 5)
    assert _converter().to_connect_header("t", "h", b"plain").schema == STRING_SCHEMA


def test_null_stays() -> None:
    assert _converter().to_connect_header("t", "h", None).value is None


def test_text_that_cannot_be_understood_stays_bytes() -> None:
    deep = b"[" * 100_000
    read = _converter().to_connect_header("t", "h", deep)
    assert read.schema == STRING_SCHEMA or (read.schema, read.value) == (BYTES_SCHEMA, deep)
