"""Arrow columns to many JSON messages at once.

A row is a list of pieces, constant texts and string columns, joined once. Every
piece is exactly the text that the record lane writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Columns
from connect_core.api.data import Schema, SchemaType
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.converters.arrays import integers_of, scatter
from connect_core.converters.decimals import unscaled_bytes
from connect_core.converters.json.write.text import quoted
from connect_core.converters.json.write.values import JsonWriter
from connect_core.java.column_text import column_text, float_column_text

__all__ = ["ColumnWriter", "Piece", "RecordsOnlyError", "entries_of"]

Piece: TypeAlias = str | pa.Array
"""A text that is the same in all rows, or a string column without nulls."""
_BEYOND = re.compile("[\U00010000-\U0010ffff]")


class RecordsOnlyError(Exception):
    """Raised when columns cannot be written with the records' result, or a record would fail."""


class ColumnWriter:
    """Writes columns with one converter's settings."""

    def __init__(self, writer: JsonWriter, replace_nulls: bool, numeric_decimals: bool) -> None:
        self._writer = writer
        self._replace_nulls = replace_nulls
        self._numeric_decimals = numeric_decimals

    def write(self, columns: Columns, envelope: bool) -> pa.Array | None:
        """Return the messages as strings, null for rows that become Kafka nulls.

        Return ``None`` if only records can be written.
        """
        schema, array = columns.schema, columns.array
        try:
            if schema is not None or not array.null_count:
                return self._messages(schema, array, envelope)
            valid = array.is_valid()
            return scatter(self._messages(None, array.filter(valid), envelope), valid)
        except RecordsOnlyError:
            return None

    def _messages(self, schema: Schema | None, array: pa.Array, envelope: bool) -> pa.Array:
        pieces = self._nullable(schema, array)
        if envelope:
            pieces = [f'{{"schema":{self._writer.schema_text(schema)},"payload":', *pieces, "}"]
        return _joined(pieces, len(array))

    def _nullable(self, schema: Schema | None, array: pa.Array) -> list[Piece]:
        """Return the pieces of a column, with nulls as the record lane writes them."""
        if not array.null_count:
            return self._present(schema, array)
        null = self._null_text(schema)
        if array.null_count == len(array):
            return [null]
        valid = array.is_valid()
        pieces = self._present(schema, array.filter(valid))
        return [scatter(_joined(pieces, len(array) - array.null_count), valid).fill_null(null)]

    def _null_text(self, schema: Schema | None) -> str:
        if schema is None:
            return "null"
        if self._replace_nulls and schema.default is not None:
            return self._writer.payload(schema, schema.default)
        if schema.optional:
            return "null"
        raise RecordsOnlyError

    def _present(self, schema: Schema | None, array: pa.Array) -> list[Piece]:
        """Return the pieces of a column without nulls."""
        kind = array.type
        if schema is not None and schema.name in LOGICAL_CLASSES:
            return self._logical(array)
        if pa.types.is_struct(kind):
            return self._struct(schema, array)
        if schema is not None and schema.type is SchemaType.MAP:
            return self._map(schema, array)
        if pa.types.is_list(kind):
            element = None if schema is None else schema.value_schema
            return ["[", self._elements(array, self._nullable(element, array.flatten())), "]"]
        return _scalar(array)

    def _logical(self, array: pa.Array) -> list[Piece]:
        if pa.types.is_decimal128(array.type):
            if self._numeric_decimals:
                return [array.cast(pa.string())]
            return _base64(unscaled_bytes(array))
        integers = integers_of(array)
        if integers is None:
            raise RecordsOnlyError
        return [integers.cast(pa.string())]

    def _struct(self, schema: Schema | None, array: pa.StructArray) -> list[Piece]:
        pieces: list[Piece] = []
        for place in range(array.type.num_fields):
            name = array.type.field(place).name
            field = None if schema is None else schema.fields[place].schema
            pieces += [f"{',' if place else '{'}{quoted(name)}:", *self._nullable(field, array.field(place))]
        return [*pieces, "}" if pieces else "{}"]

    def _map(self, schema: Schema, array: pa.Array) -> list[Piece]:
        keys, items = entries_of(array)
        key, item = self._nullable(schema.key_schema, keys), self._nullable(schema.value_schema, items)
        if schema.key_schema is None or schema.key_schema.type is not SchemaType.STRING:
            return ["[", self._elements(array, ["[", *key, ",", *item, "]"]), "]"]
        if keys.null_count or schema.key_schema.name in LOGICAL_CLASSES:
            raise RecordsOnlyError
        return ["{", self._elements(array, [*key, ":", *item]), "}"]

    def _elements(self, array: pa.Array, pieces: list[Piece]) -> pa.Array:
        starts = array.offsets.to_numpy()
        lists = pa.ListArray.from_arrays(pa.array(starts - starts[0]), _joined(pieces, int(starts[-1] - starts[0])))
        return pc.binary_join(lists, ",")


def _joined(pieces: list[Piece], length: int) -> pa.Array:
    merged = list(_merged(pieces))
    if len(merged) == 1:
        return merged[0] if isinstance(merged[0], pa.Array) else pa.repeat(pa.scalar(merged[0], pa.string()), length)
    return pc.binary_join_element_wise(*merged, "")


def _merged(pieces: Iterable[Piece]) -> Iterable[Piece]:
    literal = ""
    for piece in pieces:
        if isinstance(piece, str):
            literal += piece
            continue
        if literal:
            yield literal
        yield piece
        literal = ""
    if literal:
        yield literal


def _scalar(array: pa.Array) -> list[Piece]:
    kind = array.type
    if pa.types.is_string(kind):
        return ['"', _escaped(array), '"']
    if pa.types.is_binary(kind):
        return _base64(array)
    if pa.types.is_floating(kind):
        return [_float_text(array)]
    text = column_text(array)
    if text is None:
        raise RecordsOnlyError
    return [text]


def entries_of(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the keys and the items of the maps that are not null, one after the other."""
    if not pa.types.is_map(array.type):
        entries = array.flatten()
        return entries.field(0), entries.field(1)
    start, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.keys.slice(start, end - start), array.items.slice(start, end - start)


def _base64(array: pa.BinaryArray) -> list[Piece]:
    return ['"', pl.Series(array).bin.encode("base64").to_arrow().cast(pa.string()), '"']


def _float_text(array: pa.Array) -> pa.Array:
    text = float_column_text(array)
    finite = pc.is_finite(array)
    if pc.all(finite).as_py() is not False:
        return text
    return pc.if_else(finite, text, pc.binary_join_element_wise('"', text, '"', ""))


def _escaped(array: pa.StringArray) -> pa.StringArray:
    """Return texts with the characters escaped that JSON requires to be."""
    special = _special_bytes(array)
    if not special:
        return array
    if b"\\"[0] in special:
        array = pc.replace_substring(array, "\\", "\\\\")
    if b'"'[0] in special:
        array = pc.replace_substring(array, '"', '\\"')
    for byte in special - set(b'"\\'):
        if byte < 0x20:
            array = pc.replace_substring(array, chr(byte), quoted(chr(byte))[1:-1])
    return _escape_beyond(array) if max(special) >= 0xF0 else array


def _escape_beyond(array: pa.StringArray) -> pa.StringArray:
    """Escape characters beyond the basic plane, row by row: a pass for each of thousands would take minutes."""
    affected = pl.Series(array).str.contains(r"[\x{10000}-\x{10FFFF}]").to_arrow()
    escaped = [_BEYOND.sub(lambda found: quoted(found[0])[1:-1], text) for text in array.filter(affected).to_pylist()]
    return pc.replace_with_mask(array, affected, pa.array(escaped, array.type))


def _special_bytes(array: pa.StringArray) -> set[int]:
    """Return the distinct bytes of an array that may need escapes."""
    _, offsets, data = array.buffers()
    if data is None:
        return set()
    cuts = np.frombuffer(offsets, dtype=np.int32)
    used = np.frombuffer(data, dtype=np.uint8)[cuts[array.offset] : cuts[array.offset + len(array)]]
    special = (used < 0x20) | (used == 0x22) | (used == 0x5C) | (used >= 0xF0)
    return set(np.unique(used[special]).tolist()) if special.any() else set()
