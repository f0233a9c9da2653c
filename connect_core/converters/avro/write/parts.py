"""Writers composed of other writers."""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.converters.avro.schemas.logical import to_plain
from connect_core.converters.avro.schemas.model import AvroType
from connect_core.converters.avro.write.scalars import Writer, write_long, write_string
from connect_core.errors import DataError

__all__ = [
    "checked_writer",
    "enum_writer",
    "fixed_writer",
    "items_writer",
    "optional_writer",
    "pairs_writer",
    "required_writer",
    "write_key",
]

_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_NESTED: dict[SchemaType, type] = {SchemaType.ARRAY: list, SchemaType.MAP: dict, SchemaType.STRUCT: Struct}


def required_writer(write: Writer) -> Writer:
    """Return a writer that rejects nulls."""

    def write_required(out: bytearray, value: Any) -> None:
        if value is None:
            raise DataError("Found null value for non-optional schema")
        write(out, value)

    return write_required


def optional_writer(write: Writer, place: int, null: int | None) -> Writer:
    """Return a writer of a union with null; ``null`` is the index of null, ``None`` if there is none."""

    def write_optional(out: bytearray, value: Any) -> None:
        if value is not None:
            write_long(out, place)
            write(out, value)
        elif null is None:
            raise DataError("Found null value for non-optional schema")
        else:
            write_long(out, null)

    return write_optional


def checked_writer(schema: Schema, write: Writer) -> Writer:
    """Return a writer that rejects values of another class, and integers out of range."""
    accepts, nested = schema.accepts, _NESTED.get(schema.type, ())
    bits = _BITS.get(schema.type)
    limit = 0 if bits is None else 1 << bits - 1

    def write_checked(out: bytearray, value: Any) -> None:
        kind = type(value)
        if kind in accepts or (kind is int and -limit <= value < limit) or isinstance(value, nested):
            write(out, value)
            return
        what = f"{value}, out of range" if bits and kind is int else f"class {kind.__name__}"
        raise DataError(f"Invalid type for {schema.type}: {what}")

    return write_checked


def enum_writer(avro: AvroType) -> Writer:
    """Return a writer of symbols; it rejects other texts."""
    places = {symbol: place for place, symbol in enumerate(avro.symbols)}

    def write(out: bytearray, value: str) -> None:
        place = places.get(value)
        if place is None:
            raise DataError(f"{value!r} is not a symbol of the enum {avro.name}")
        write_long(out, place)

    return write


def fixed_writer(avro: AvroType, schema: Schema) -> Writer:
    """Return a writer of bytes of a fixed size; those of decimals are padded."""
    is_number = to_plain(schema) is not None

    def write(out: bytearray, value: bytes) -> None:
        size = len(value)
        if size > avro.size or (size != avro.size and not is_number):
            raise DataError(f"{size} bytes for the fixed {avro.name} of {avro.size}")
        if size < avro.size:
            out += (b"\xff" if value[0] & 0x80 else b"\0") * (avro.size - size)
        out += value

    return write


def items_writer(write: Writer) -> Writer:
    """Return a writer of lists, as one block."""

    def write_items(out: bytearray, value: list[Any]) -> None:
        if value:
            write_long(out, len(value))
        for item in value:
            write(out, item)
        out.append(0)

    return write_items


def pairs_writer(write_key: Writer, write_item: Writer) -> Writer:
    """Return a writer of maps, as one block."""

    def write_pairs(out: bytearray, value: dict[Any, Any]) -> None:
        if value:
            write_long(out, len(value))
        for key, item in value.items():
            write_key(out, key)
            write_item(out, item)
        out.append(0)

    return write_pairs


def write_key(out: bytearray, key: Any) -> None:
    """Append a key of a map. Raise DataError if it is not a text."""
    if type(key) is not str:
        raise DataError(f"Invalid type for STRING: class {type(key).__name__}")
    write_string(out, key)
