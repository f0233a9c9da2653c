"""Single values, each after a tag for its type: for values that no column can hold."""

from __future__ import annotations

import decimal
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from connect_core.api.data import (
    BigInteger,
    Float32,
    Instant,
    Int8,
    Int16,
    Int32,
    Schema,
    SchemaType,
    Struct,
)
from connect_core.errors import DataError
from connect_core.java.decimals import of_unscaled, unscaled_and_scale

__all__ = ["ValueReader", "read_default", "write_default", "write_value"]

_NULL, _FALSE, _TRUE, _INT8, _INT16, _INT32, _INT64, _FLOAT32, _FLOAT64 = range(9)
_STRING, _BYTES, _LIST, _MAP, _STRUCT, _DATE, _DECIMAL, _INTEGER, _BUFFER = range(9, 18)

NumberOf = Callable[[Schema], int]
Numbered = Callable[[int], Schema | None]

_NUMBERS: dict[SchemaType, tuple[int, struct.Struct]] = {
    SchemaType.INT8: (_INT8, struct.Struct("<Bb")),
    SchemaType.INT16: (_INT16, struct.Struct("<Bh")),
    SchemaType.INT32: (_INT32, struct.Struct("<Bi")),
    SchemaType.INT64: (_INT64, struct.Struct("<Bq")),
    SchemaType.FLOAT32: (_FLOAT32, struct.Struct("<Bf")),
    SchemaType.FLOAT64: (_FLOAT64, struct.Struct("<Bd")),
}
_TYPES: dict[type, SchemaType] = {
    Int8: SchemaType.INT8,
    Int16: SchemaType.INT16,
    Int32: SchemaType.INT32,
    Float32: SchemaType.FLOAT32,
}
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")


def write_value(out: bytearray, value: Any, schema: Schema | None, number_of: NumberOf) -> None:
    """Append a value; a plain number has the width of its schema's type, 64 bits without a schema.

    Raise DataError for a value that Connect has no type for.
    """
    if value is None:
        out.append(_NULL)
    elif isinstance(value, bool):
        out.append(_TRUE if value else _FALSE)
    elif isinstance(value, str):
        _write_bytes(out, _STRING, value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, int | float):
        _write_number(out, value, schema)
    elif isinstance(value, bytes):
        _write_bytes(out, _BYTES, value)
    elif isinstance(value, Struct | list | dict):
        _write_parts(out, value, schema, number_of)
    else:
        _write_rare(out, value)


def _write_number(out: bytearray, value: float, schema: Schema | None) -> None:
    if isinstance(value, BigInteger):
        size = value.bit_length() // 8 + 1
        _write_bytes(out, _INTEGER, value.to_bytes(size, "big", signed=True))
        return
    known = None if schema is None else schema.type
    kind = known if known in _NUMBERS else _TYPES.get(type(value))
    if kind is None:
        kind = SchemaType.FLOAT64 if isinstance(value, float) else SchemaType.INT64
    tag, form = _NUMBERS[kind]
    try:
        out += form.pack(tag, value)
    except (struct.error, OverflowError) as error:
        raise DataError(f"{value} does not fit {kind}") from error


def _write_parts(out: bytearray, value: Any, schema: Schema | None, number_of: NumberOf) -> None:
    if isinstance(value, Struct):
        out.append(_STRUCT)
        out += _INT.pack(number_of(value.schema))
        for field, part in zip(value.schema.fields, value.values, strict=True):
            write_value(out, part, field.schema, number_of)
        return
    is_typed = schema is not None and schema.type in (SchemaType.MAP, SchemaType.ARRAY)
    items = schema.value_schema if schema is not None and is_typed else None
    out.append(_LIST if isinstance(value, list) else _MAP)
    out += _INT.pack(len(value))
    if isinstance(value, list):
        for item in value:
            write_value(out, item, items, number_of)
        return
    keys = schema.key_schema if schema is not None and schema.type is SchemaType.MAP else None
    for key, item in value.items():
        write_value(out, key, keys, number_of)
        write_value(out, item, items, number_of)


def _write_rare(out: bytearray, value: Any) -> None:
    if isinstance(value, Instant):
        out.append(_DATE)
        out += _LONG.pack(value.epoch_millis)
    elif isinstance(value, decimal.Decimal):
        unscaled, scale = unscaled_and_scale(value)
        size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
        out.append(_DECIMAL)
        out += _INT.pack(scale)
        out += _INT.pack(size) + unscaled.to_bytes(size, "big", signed=True)
    elif isinstance(value, memoryview):
        _write_bytes(out, _BUFFER, bytes(value))
    else:
        raise DataError(f"A value of {type(value).__name__} cannot be handed to a Java plugin")


def _write_bytes(out: bytearray, tag: int, data: bytes) -> None:
    out.append(tag)
    out += _INT.pack(len(data))
    out += data


@dataclass(slots=True)
class ValueReader:
    """Reads values one after the other; 64-bit integers and doubles become plain numbers."""

    data: memoryview
    numbered: Numbered
    at: int = 0

    def read(self) -> Any:
        """Return the next value."""
        tag = self.data[self.at]
        self.at += 1
        return _READERS[tag](self)

    def unpack(self, form: struct.Struct) -> Any:
        """Return one number."""
        (value,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return value

    def bytes(self) -> bytes:
        """Return bytes, which follow their length."""
        size = self.unpack(_INT)
        self.at += size
        return self.data[self.at - size : self.at].tobytes()

    def items(self) -> list[Any]:
        """Return a list."""
        return [self.read() for _ in range(self.unpack(_INT))]

    def entries(self) -> dict[Any, Any]:
        """Return a map."""
        return {self.read(): self.read() for _ in range(self.unpack(_INT))}

    def struct(self) -> Struct:
        """Return a struct."""
        schema = self.numbered(self.unpack(_INT))
        if schema is None:
            raise DataError("A struct came without its schema")
        return Struct.of_values(schema, [self.read() for _ in schema.fields])

    def decimal(self) -> decimal.Decimal:
        """Return a decimal."""
        scale = self.unpack(_INT)
        return of_unscaled(int.from_bytes(self.bytes(), "big", signed=True), scale)


def _numeric(kind: Callable[[Any], Any], form: str) -> Callable[[ValueReader], Any]:
    packed = struct.Struct(form)
    return lambda reader: kind(reader.unpack(packed))


_READERS: tuple[Callable[[ValueReader], Any], ...] = (
    lambda reader: None,
    lambda reader: False,
    lambda reader: True,
    _numeric(Int8, "<b"),
    _numeric(Int16, "<h"),
    _numeric(Int32, "<i"),
    _numeric(int, "<q"),
    _numeric(Float32, "<f"),
    _numeric(float, "<d"),
    lambda reader: reader.bytes().decode(),
    ValueReader.bytes,
    ValueReader.items,
    ValueReader.entries,
    ValueReader.struct,
    _numeric(Instant, "<q"),
    ValueReader.decimal,
    lambda reader: BigInteger(int.from_bytes(reader.bytes(), "big", signed=True)),
    lambda reader: memoryview(reader.bytes()),
)
"""Reader by tag."""


def write_default(value: Any, schema: Schema) -> bytes:
    """Return a schema's default, encoded alone; a struct refers to its schema by index among the schema's parts."""
    out = bytearray()
    write_value(out, value, schema, list(_structs(schema)).index)
    return bytes(out)


def read_default(data: bytes, schema: Schema) -> Any:
    """Return a schema's default."""
    return ValueReader(memoryview(data), list(_structs(schema)).__getitem__).read()


def _structs(schema: Schema | None) -> Iterator[Schema]:
    """Yield the struct schemas among a schema and its parts, in the order of a walk from its root."""
    if schema is None:
        return
    if schema.type is SchemaType.STRUCT:
        yield schema
        for field in schema.fields:
            yield from _structs(field.schema)
    if schema.type is SchemaType.MAP:
        yield from _structs(schema.key_schema)
    if schema.type in (SchemaType.MAP, SchemaType.ARRAY):
        yield from _structs(schema.value_schema)
