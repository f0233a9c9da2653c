"""Conversion of logical types' values to the plain values that Avro has, and back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as Number
from typing import Any

from connect_core.api.data import Date, Decimal, Instant, Schema, SchemaType, Time, Timestamp
from connect_core.errors import DataError, NumberFormatError

__all__ = ["from_plain", "to_plain"]

Convert = Callable[[Schema, Any], Any]


def _from_bytes(schema: Schema, value: bytes) -> Number:
    try:
        return Decimal.to_logical(schema, value)
    except NumberFormatError as error:
        raise DataError(f"a decimal has no digits: {error}") from error


_KINDS: dict[str, tuple[str, type, SchemaType, Convert, Convert]] = {
    Decimal.LOGICAL_NAME: ("Decimal", Number, SchemaType.BYTES, Decimal.from_logical, _from_bytes),
    Date.LOGICAL_NAME: ("Date", Instant, SchemaType.INT32, Date.from_logical, Date.to_logical),
    Time.LOGICAL_NAME: ("Time", Instant, SchemaType.INT32, Time.from_logical, Time.to_logical),
    Timestamp.LOGICAL_NAME: ("Timestamp", Instant, SchemaType.INT64, Timestamp.from_logical, Timestamp.to_logical),
}


def to_plain(schema: Schema) -> Callable[[Any], Any] | None:
    """Return a converter from a logical type's values to plain ones, ``None`` for a schema of another name.

    It raises DataError for a value of another class, or that the type cannot hold.
    """
    kind = _KINDS.get(schema.name or "")
    if kind is None:
        return None
    word, accepted, _, write, _ = kind

    def convert(value: Any) -> Any:
        if type(value) is not accepted:
            raise DataError(f"Invalid type for {word}, expected {word} but was class {type(value).__name__}")
        return write(schema, value)

    return convert


def from_plain(schema: Schema) -> Callable[[Any], Any] | None:
    """Return a converter from plain values to a logical type's, ``None`` for a schema of another name.

    Raise DataError if the schema's type is not the one that the name requires.
    """
    kind = _KINDS.get(schema.name or "")
    if kind is None:
        return None
    word, _, needed, _, read = kind
    if schema.type is not needed:
        raise DataError(
            f"Invalid type for {word}, underlying representation should be {needed.value} but was {schema.type}"
        )
    return lambda value: read(schema, value)
