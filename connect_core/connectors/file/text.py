"""Values as lines of text, like Java's ``println``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_python
from connect_core.api.batch import Data, Objects
from connect_core.api.data import Schema, SchemaType, to_text
from connect_core.java.column_text import column_text

__all__ = ["lines_of_data", "lines_of_values"]

_LINE_END = "\n"


def lines_of_values(values: Iterable[Any]) -> bytes:
    """Return one line per value, as UTF-8."""
    return "".join(f"{to_text(value)}{_LINE_END}" for value in values).encode("utf-8", "replace")


def lines_of_data(data: Data) -> bytes:
    """Return the result of ``lines_of_values`` for the rows of a batch."""
    if isinstance(data, Objects):
        return lines_of_values(data.values)
    if not len(data):
        return b""
    lines = pc.binary_join_element_wise(_text(data.schema, data.array), "", _LINE_END)
    _, offsets, content = lines.buffers()
    places = memoryview(offsets).cast("i")
    return bytes(memoryview(content)[places[lines.offset] : places[lines.offset + len(lines)]])


def _text(schema: Schema | None, array: pa.Array) -> pa.StringArray:
    """Return ``to_text`` of every row; no row is null."""
    kind = array.type
    if pa.types.is_struct(kind) and (schema is None or schema.type is SchemaType.STRUCT):
        text = _map_text(array) if schema is None else _struct_text(schema, array)
        return pc.if_else(pc.is_valid(array), text, "null")
    text = column_text(array)
    if text is not None:
        return pc.fill_null(text, "null")
    return pa.array([to_text(value) for value in to_python(schema, array)], pa.string())


def _map_text(array: pa.StructArray) -> pa.Array:
    pieces: list[Any] = []
    for name, column in zip(array.type.names, array.flatten(), strict=True):
        pieces += [f"{', ' if pieces else '{'}{name}=", _text(None, column)]
    return pc.binary_join_element_wise(*pieces, "}", "") if pieces else _repeated("{}", array)


def _struct_text(schema: Schema, array: pa.StructArray) -> pa.Array:
    # The text of Connect's Struct omits fields without a value.
    fields = [
        pc.if_else(
            pc.is_valid(column),
            pc.binary_join_element_wise(f"{field.name}=", _text(field.schema, column), ""),
            None,
        )
        for field, column in zip(schema.fields, array.flatten(), strict=True)
    ]
    if not fields:
        return _repeated("Struct{}", array)
    # The empty text comes first because Arrow leaves out rows of which all texts are null; its comma is cut off.
    inner = pc.utf8_slice_codeunits(pc.binary_join_element_wise("", *fields, ",", null_handling="skip"), 1)
    return pc.binary_join_element_wise("Struct{", inner, "}", "")


def _repeated(text: str, array: pa.Array) -> pa.Array:
    return pa.repeat(pa.scalar(text), len(array))
