"""Connect data to JSON under a schema in a registry. Confluent: ``JsonSchemaData.fromConnectData``.

Written as by JsonConverter, except for forbidden nulls, whose members are
omitted, maps without text keys, and unions.
"""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.converters.json.write.text import quoted
from connect_core.converters.json.write.values import JsonWriter, Write, invalid_value, member_name
from connect_core.converters.json_schema.names import is_union
from connect_core.errors import DataError

__all__ = ["NO_TEXT", "RegisteredJsonWriter", "has_text_keys"]

NO_TEXT = ""
"""Represents a null that the schema does not allow: omitted in structs, a Kafka null by itself."""


class RegisteredJsonWriter(JsonWriter):
    """Writes payloads with one converter's settings."""

    def __init__(self, numeric_decimals: bool, ignore_defaults: bool, cache_size: int) -> None:
        super().__init__(numeric_decimals, not ignore_defaults, cache_size)

    def writer(self, schema: Schema | None) -> Write:
        """Return the function that writes values of a schema, including nulls, or returns ``NO_TEXT``."""
        if schema is None:
            raise DataError("An array or map has no schema for its elements")
        write = self._present(schema)
        if self._replace_nulls and schema.default is not None:
            return lambda value: write(schema.default if value is None else value)
        null = "null" if schema.optional else NO_TEXT
        return lambda value: null if value is None else write(value)

    def _struct(self, schema: Schema) -> Write:
        names = [quoted(field.name) + ":" for field in schema.fields]
        writers = [self.writer(field.schema) for field in schema.fields]
        as_union = is_union(schema)
        null = "null" if schema.optional else NO_TEXT

        def write(value: Any) -> str:
            if not isinstance(value, Struct):
                raise invalid_value(SchemaType.STRUCT, value)
            if value.schema is not schema and value.schema != schema:
                raise DataError("Mismatching schema.")
            texts = [write(item) for write, item in zip(writers, value.values, strict=True)]
            if as_union:
                return next((text for text in texts if text not in (NO_TEXT, "null")), null)
            members = [name + text for name, text in zip(names, texts, strict=True) if text != NO_TEXT]
            return f"{{{','.join(members)}}}"

        return write

    def _array(self, schema: Schema) -> Write:
        element = self.writer(schema.value_schema)

        def write(value: Any) -> str:
            if not isinstance(value, list):
                raise invalid_value(SchemaType.ARRAY, value)
            return f"[{','.join([element(item) or 'null' for item in value])}]"

        return write

    def _map(self, schema: Schema) -> Write:
        key, item = self.writer(schema.key_schema), self.writer(schema.value_schema)
        as_object = has_text_keys(schema)

        def write(value: Any) -> str:
            if not isinstance(value, dict):
                raise invalid_value(SchemaType.MAP, value)
            if as_object:
                members = {_name(key(k)): item(v) or "null" for k, v in value.items()}
                return f"{{{','.join(f'{quoted(name)}:{text}' for name, text in members.items())}}}"
            pairs = ((key(k) or "null", item(v) or "null") for k, v in value.items())
            entries = [f'{{"key":{k},"value":{v}}}' for k, v in pairs]
            return f"[{','.join(entries)}]"

        return write


def has_text_keys(schema: Schema) -> bool:
    """Return whether a map is written as an object."""
    keys = schema.key_schema
    return keys is not None and keys.type is SchemaType.STRING and not keys.optional


def _name(text: str) -> str:
    if text == NO_TEXT:
        raise DataError("A map has a null key, which its schema does not allow")
    return member_name(text)
