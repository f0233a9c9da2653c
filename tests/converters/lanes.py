"""What a converter's two lanes make of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Objects
from connect_core.api.convert import Converter
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.errors import ConnectError

__all__ = ["read_by_batch", "read_by_record", "write_by_batch", "write_by_record"]


def read_by_record(converter: Converter, messages: Sequence[bytes | None]) -> list[SchemaAndValue | type[ConnectError]]:
    """Return what each message means, or the class of its error."""
    return [_attempt(converter, message) for message in messages]


def _attempt(converter: Converter, message: bytes | None) -> SchemaAndValue | type[ConnectError]:
    try:
        return converter.to_connect_data("t", message)
    except ConnectError as error:
        return type(error)


def read_by_batch(converter: Converter, messages: Sequence[bytes | None]) -> list[SchemaAndValue] | None:
    """Return what the messages mean, ``None`` if only records can say it."""
    data = converter.to_connect_batch(_topic(messages), pa.array(messages, pa.binary()))
    if data is None:
        return None
    objects = data.to_objects()
    return [SchemaAndValue(schema, value) for schema, value in zip(objects.schemas, objects.values, strict=True)]


def write_by_record(converter: Converter, schema: Schema | None, values: Sequence[Any]) -> list[Any]:
    """Return the bytes of each value, or the class of its error."""
    written: list[Any] = []
    for value in values:
        try:
            written.append(converter.from_connect_data("t", schema, value))
        except ConnectError as error:
            written.append(type(error))
    return written


def write_by_batch(converter: Converter, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None] | None:
    """Return the bytes of all values, ``None`` if only records can say it."""
    found = converter.from_connect_batch(_topic(values), Objects([schema] * len(values), values))
    return None if found is None else found.to_pylist()


def _topic(rows: Sequence[Any]) -> pa.Array:
    return pa.array(["t"] * len(rows)).dictionary_encode()
