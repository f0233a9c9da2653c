"""Readers of one message's body, compiled for its Avro schema and the corresponding Connect schema."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.read.anything import read_anything
from connect_core.converters.avro.read.scalars import (
    Reader,
    read_boolean,
    read_bytes,
    read_double,
    read_float,
    read_int,
    read_long,
    read_string,
    reader_of_enum,
    reader_of_fixed,
)
from connect_core.converters.avro.schemas.logical import from_plain
from connect_core.converters.avro.schemas.model import AvroKind, AvroType, optional_of
from connect_core.converters.avro.schemas.names import branch_name, is_map_entry
from connect_core.errors import DataError
from connect_core.java.equality import as_key
from connect_core.java.numbers import wrap

__all__ = ["MAX_EMPTY_ITEMS", "body_reader", "least_size"]

MAX_EMPTY_ITEMS = 100_000
"""Items without bytes do not make a message longer: their number in one message must be limited."""

_SCALARS: dict[AvroKind, Reader] = {
    AvroKind.BOOLEAN: read_boolean,
    AvroKind.INT: read_int,
    AvroKind.LONG: read_long,
    AvroKind.FLOAT: read_float,
    AvroKind.DOUBLE: read_double,
    AvroKind.BYTES: read_bytes,
    AvroKind.STRING: read_string,
    AvroKind.ANYTHING: read_anything,
}
_SMALL = {SchemaType.INT8: 8, SchemaType.INT16: 16}


def body_reader(avro: AvroType, schema: Schema | None, settings: AvroSettings) -> Callable[[bytes], Any]:
    """Return a reader of whole bodies. It raises DataError for one that is malformed, or longer than its value."""
    compiler = _Compiler(settings)
    read, empty = compiler.reader(avro, schema), compiler.empty_items

    def read_body(body: bytes) -> Any:
        empty[0] = MAX_EMPTY_ITEMS
        try:
            value, end = read(body, 0)
        except (IndexError, struct.error) as error:
            raise DataError(f"the message ends before its value does, after {len(body)} bytes of Avro") from error
        if end != len(body):
            raise DataError(f"{len(body) - end} of {len(body)} bytes are left after the value")
        return value

    return read_body


class _Compiler:
    """Compiles readers; a type that occurs again gets the same reader."""

    def __init__(self, settings: AvroSettings) -> None:
        self._settings = settings
        self._known: dict[tuple[AvroType, int], Reader] = {}
        self.empty_items = [0]
        """The number of items without bytes that the message may still contain."""

    def reader(self, avro: AvroType, schema: Schema | None) -> Reader:
        known = self._known.get((avro, id(schema)))
        if known is None:
            known = self._known[avro, id(schema)] = self._reader(avro, schema)
        return known

    def _reader(self, avro: AvroType, schema: Schema | None) -> Reader:
        if schema is None or avro.kind is AvroKind.ANYTHING:
            return read_anything
        if avro.kind is AvroKind.UNION:
            return self._union(avro, schema)
        return _with_logical(self._plain(avro, schema), schema)

    def _plain(self, avro: AvroType, schema: Schema) -> Reader:
        if avro.kind is AvroKind.ENUM:
            return reader_of_enum(avro.symbols)
        if avro.kind is AvroKind.FIXED:
            return reader_of_fixed(avro.size)
        if avro.kind is AvroKind.RECORD:
            return self._record(avro, schema)
        if avro.kind is AvroKind.MAP:
            entry = _pair(read_string, self.reader(avro.part(), schema.value_schema))
            return _mapped(self._blocks(entry), dict)
        if avro.kind is AvroKind.ARRAY:
            return self._array(avro.part(), schema)
        bits = _SMALL.get(schema.type)
        return _SCALARS[avro.kind] if bits is None else _mapped(_SCALARS[avro.kind], lambda value: wrap(value, bits))

    def _array(self, items: AvroType, schema: Schema) -> Reader:
        if not is_map_entry(items):
            return self._blocks(self.reader(items, schema.value_schema), least_size(items))
        kinds = [(field.name, field.type) for field in items.fields]
        parts = {"key": schema.key_schema, "value": schema.value_schema}
        first, second = (self.reader(kind, parts[name]) for name, kind in kinds)
        pair = _pair(first, second) if kinds[0][0] == "key" else _mapped(_pair(first, second), lambda two: two[::-1])
        return _mapped(self._blocks(pair, least_size(items)), _keyed)

    def _blocks(self, read: Reader, least: int = 1) -> Reader:
        """Return a reader of blocks of items, each of at least ``least`` bytes."""
        empty = self.empty_items

        def read_blocks(body: bytes, at: int) -> tuple[list[Any], int]:
            found: list[Any] = []
            count, at = _count(body, at)
            while count:
                empty[0] -= 0 if least else count
                if empty[0] < 0 or (least and count > len(body) - at):
                    raise DataError(f"a block of {count} items, more than the message can hold")
                for _ in range(count):
                    item, at = read(body, at)
                    found.append(item)
                count, at = _count(body, at)
            return found, at

        return read_blocks

    def _record(self, avro: AvroType, schema: Schema) -> Reader:
        readers = [self.reader(one.type, field.schema) for one, field in zip(avro.fields, schema.fields, strict=True)]
        of_values = Struct.of_values

        def read(body: bytes, at: int) -> tuple[Struct, int]:
            values = []
            for one in readers:
                value, at = one(body, at)
                values.append(value)
            return of_values(schema, values), at

        return read

    def _union(self, avro: AvroType, schema: Schema) -> Reader:
        places = optional_of(avro)
        if places is not None:
            return _optional(places[0], self.reader(avro.branches[places[1]], schema))
        if self._settings.flatten and len(avro.branches) == 1:
            return _branched([self.reader(avro.branches[0], schema)])
        return _branched([self._branch(one, place, schema) for place, one in enumerate(avro.branches)])

    def _branch(self, avro: AvroType, place: int, schema: Schema) -> Reader:
        if avro.kind is AvroKind.NULL:
            return _read_null
        field = schema.field(branch_name(avro, place, self._settings))
        assert field is not None
        read, width, index = self.reader(avro, field.schema), len(schema.fields), field.index

        def read_branch(body: bytes, at: int) -> tuple[Struct, int]:
            values: list[Any] = [None] * width
            values[index], at = read(body, at)
            return Struct.of_values(schema, values), at

        return read_branch


def least_size(avro: AvroType) -> int:
    """Return 0 if a value may have no bytes at all, else 1."""
    if avro.kind is AvroKind.NULL or (avro.kind is AvroKind.FIXED and avro.size == 0):
        return 0
    if avro.kind is AvroKind.RECORD:
        return max((least_size(field.type) for field in avro.fields), default=0)
    return 1


def _with_logical(read: Reader, schema: Schema) -> Reader:
    convert = from_plain(schema)
    return read if convert is None else _mapped(read, convert)


def _mapped(read: Reader, convert: Callable[[Any], Any]) -> Reader:
    def read_mapped(body: bytes, at: int) -> tuple[Any, int]:
        value, at = read(body, at)
        return convert(value), at

    return read_mapped


def _keyed(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    return {as_key(key): value for key, value in pairs}


def _count(body: bytes, at: int) -> tuple[int, int]:
    """Read the number of items of a block; after a negative number, the block's size follows."""
    count, at = read_long(body, at)
    if count < 0:
        _, at = read_long(body, at)
    return abs(count), at


def _pair(first: Reader, second: Reader) -> Reader:
    def read(body: bytes, at: int) -> tuple[tuple[Any, Any], int]:
        one, at = first(body, at)
        other, at = second(body, at)
        return (one, other), at

    return read


def _read_null(body: bytes, at: int) -> tuple[None, int]:
    return None, at


def _optional(null: int, read: Reader) -> Reader:
    def read_optional(body: bytes, at: int) -> tuple[Any, int]:
        place, at = read_long(body, at)
        if place == null:
            return None, at
        if place != 1 - null:
            raise DataError(f"branch {place} of a union of 2")
        return read(body, at)

    return read_optional


def _branched(readers: list[Reader]) -> Reader:
    def read_union(body: bytes, at: int) -> tuple[Any, int]:
        place, at = read_long(body, at)
        if not 0 <= place < len(readers):
            raise DataError(f"branch {place} of a union of {len(readers)}")
        return readers[place](body, at)

    return read_union
