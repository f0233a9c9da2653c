"""Batches of JSON messages: columns if JsonConverter's proofs succeed, otherwise objects."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from connect_core.api.data import Schema, SchemaType
from connect_core.converters.json.read.columns import read_payloads
from connect_core.converters.json.read.rows import bare_texts
from connect_core.converters.json.write.columns import ColumnWriter, Piece, RecordsOnlyError, entries_of
from connect_core.converters.json_schema.names import holds_union, is_union
from connect_core.converters.json_schema.write import has_text_keys

__all__ = ["RegisteredColumnWriter", "read_columns"]


def read_columns(bodies: pa.BinaryArray, schema: Schema) -> pa.Array | None:
    """Return bare payloads without nulls as a column, or ``None`` if they can only be objects."""
    if holds_union(schema):
        return None
    wrapped = schema.type is not SchemaType.STRUCT or schema.optional
    texts = bare_texts(bodies, wrapped)
    return None if texts is None else read_payloads(texts, schema, wrapped, replace_nulls=True)


class RegisteredColumnWriter(ColumnWriter):
    """Writes columns with the results of ``RegisteredJsonWriter`` for their rows."""

    def _struct(self, schema: Schema | None, array: pa.StructArray) -> list[Piece]:
        if schema is None or is_union(schema):
            raise RecordsOnlyError
        return super()._struct(schema, array)

    def _map(self, schema: Schema, array: Any) -> list[Piece]:
        keys, items = entries_of(array)
        if has_text_keys(schema):
            return super()._map(schema, array)
        key, item = self._nullable(schema.key_schema, keys), self._nullable(schema.value_schema, items)
        return ["[", self._elements(array, ['{"key":', *key, ',"value":', *item, "}"]), "]"]
