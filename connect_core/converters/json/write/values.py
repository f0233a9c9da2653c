"""Connect data to JSON text, one value at a time.

A schema is compiled once into nested functions; schemaless data is written by
the class of each value. Connect: ``JsonConverter.convertToJson``.
"""

from __future__ import annotations

import decimal
import json
from collections.abc import Callable
from typing import Any

from connect_core.api.data import (
    Date,
    Decimal,
    Float32,
    Float64,
    Instant,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaType,
    Struct,
    Time,
    Timestamp,
)
from connect_core.converters.bounded_cache import BoundedCache
from connect_core.converters.json.write.text import base64_text, double_text, float_text, quoted
from connect_core.errors import DataError
from connect_core.java.text import decimal_text

__all__ = ["JsonWriter", "Write", "invalid_value", "member_name", "schemaless_text"]

Write = Callable[[Any], str]
"""Returns the JSON text of one value; raises DataError for a value of another type."""


class JsonWriter:
    """Writes values and schemas with one converter's settings."""

    def __init__(self, numeric_decimals: bool, replace_nulls: bool, cache_size: int) -> None:
        self._decimal = _numeric_decimal if numeric_decimals else _encoded_decimal
        self._replace_nulls = replace_nulls
        self._writers: BoundedCache[Schema, Write] = BoundedCache(cache_size)
        self._schemas: BoundedCache[Schema, str] = BoundedCache(cache_size)

    def payload(self, schema: Schema | None, value: Any) -> str:
        """Return the JSON of a value. Raise DataError if the value does not fit its schema."""
        if schema is None:
            return schemaless_text(value)
        write = self._writers.get(schema)
        if write is None:
            write = self._writers.put(schema, self.writer(schema))
        return write(value)

    def schema_text(self, schema: Schema | None) -> str:
        """Return a schema as JSON. Raise DataError for a default that cannot be written."""
        if schema is None:
            return "null"
        known = self._schemas.get(schema)
        return known if known is not None else self._schemas.put(schema, f"{{{','.join(self._describe(schema))}}}")

    def _describe(self, schema: Schema) -> list[str]:
        parts = [f'"type":"{_TYPE_NAMES[schema.type]}"', *self._describe_parts(schema)]
        parts.append(f'"optional":{_boolean(schema.optional)}')
        if schema.name is not None:
            parts.append(f'"name":{quoted(schema.name)}')
        if schema.version is not None:
            parts.append(f'"version":{schema.version}')
        if schema.doc is not None:
            parts.append(f'"doc":{quoted(schema.doc)}')
        if schema.parameters is not None:
            parts.append(f'"parameters":{_object({k: quoted(v) for k, v in schema.parameters.items()})}')
        if schema.default is not None:
            parts.append(f'"default":{self.payload(schema, schema.default)}')
        return parts

    def _describe_parts(self, schema: Schema) -> list[str]:
        if schema.type is SchemaType.ARRAY:
            return [f'"items":{self.schema_text(schema.value_schema)}']
        if schema.type is SchemaType.MAP:
            return [
                f'"keys":{self.schema_text(schema.key_schema)}',
                f'"values":{self.schema_text(schema.value_schema)}',
            ]
        if schema.type is SchemaType.STRUCT:
            fields = (
                f'{self.schema_text(field.schema)[:-1]},"field":{quoted(field.name)}}}' for field in schema.fields
            )
            return [f'"fields":[{",".join(fields)}]']
        return []

    def writer(self, schema: Schema | None) -> Write:
        """Return the function that writes values of a schema, including nulls."""
        if schema is None:
            return schemaless_text
        write = self._present(schema)
        if self._replace_nulls and schema.default is not None:
            return lambda value: write(schema.default if value is None else value)
        if schema.optional:
            return lambda value: "null" if value is None else write(value)
        return lambda value: write(value) if value is not None else _refuse_null()

    def _present(self, schema: Schema) -> Write:
        if schema.name == Decimal.LOGICAL_NAME:
            return lambda value: self._decimal(schema, _of_class(value, decimal.Decimal, "Decimal"))
        logical = _INSTANTS.get(schema.name or "")
        if logical is not None:
            kind, convert = logical
            return lambda value: str(convert(schema, _of_class(value, Instant, kind)))
        if schema.type is SchemaType.STRUCT:
            return self._struct(schema)
        if schema.type is SchemaType.ARRAY:
            return self._array(schema)
        if schema.type is SchemaType.MAP:
            return self._map(schema)
        return _SCALARS[schema.type]

    def _struct(self, schema: Schema) -> Write:
        names = [quoted(field.name) + ":" for field in schema.fields]
        writers = [self.writer(field.schema) for field in schema.fields]

        def write(value: Any) -> str:
            if not isinstance(value, Struct):
                raise invalid_value(SchemaType.STRUCT, value)
            if value.schema is not schema and value.schema != schema:
                raise DataError("Mismatching schema.")
            members = [name + write(item) for name, write, item in zip(names, writers, value.values, strict=True)]
            return f"{{{','.join(members)}}}"

        return write

    def _array(self, schema: Schema) -> Write:
        element = self.writer(schema.value_schema)

        def write(value: Any) -> str:
            if not isinstance(value, list):
                raise invalid_value(SchemaType.ARRAY, value)
            return f"[{','.join(map(element, value))}]"

        return write

    def _map(self, schema: Schema) -> Write:
        key, item = self.writer(schema.key_schema), self.writer(schema.value_schema)
        as_object = schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING

        def write(value: Any) -> str:
            if not isinstance(value, dict):
                raise invalid_value(SchemaType.MAP, value)
            if as_object:
                return _object({member_name(key(k)): item(v) for k, v in value.items()})
            return f"[{','.join(f'[{key(k)},{item(v)}]' for k, v in value.items())}]"

        return write


def schemaless_text(value: Any) -> str:
    """Return the JSON of a value, depending on its class. Raise DataError for an unsupported one."""
    write = _SCHEMALESS.get(type(value))
    if write is None:
        raise DataError(
            "Mismatching schema."
            if isinstance(value, Struct)
            else f"class {type(value).__name__} does not have corresponding schema type."
        )
    return write(value)


def _schemaless_list(value: list[Any]) -> str:
    return f"[{','.join(map(schemaless_text, value))}]"


def _schemaless_map(value: dict[Any, Any]) -> str:
    if all(map(_is_string, value)):
        return f"{{{','.join([quoted(key) + ':' + schemaless_text(item) for key, item in value.items()])}}}"
    return f"[{','.join(f'[{schemaless_text(key)},{schemaless_text(item)}]' for key, item in value.items())}]"


def _is_string(value: Any) -> bool:
    return type(value) is str


def member_name(key: str) -> str:
    """Return the field name for a key's JSON: Jackson's ``asText``."""
    return str(json.loads(key)) if key.startswith('"') else key


def _object(members: dict[str, str]) -> str:
    return f"{{{','.join(f'{quoted(name)}:{text}' for name, text in members.items())}}}"


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _refuse_null() -> str:
    raise DataError("Conversion error: null value for field that is required and has no default value")


def invalid_value(type: SchemaType, value: Any) -> DataError:
    """Return the error for a value that is not of its schema's type."""
    return DataError(f"Invalid type for {type}: class {value.__class__.__name__}")


def _of_class(value: Any, expected: type, kind: str) -> Any:
    if isinstance(value, expected):
        return value
    raise DataError(f"Invalid type for {kind}, expected {expected.__name__} but was class {type(value).__name__}")


def _numeric_decimal(schema: Schema, value: decimal.Decimal) -> str:
    return decimal_text(value)


def _encoded_decimal(schema: Schema, value: decimal.Decimal) -> str:
    return base64_text(Decimal.from_logical(schema, value))


def _integer(type_: SchemaType, width: type, bits: int) -> Write:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def write(value: Any) -> str:
        kind = type(value)
        if kind is width or (kind is int and low <= value <= high):
            return int.__repr__(value)
        raise invalid_value(type_, value)

    return write


def _scalar(type_: SchemaType, kinds: tuple[type, ...], text: Write) -> Write:
    def write(value: Any) -> str:
        if type(value) in kinds:
            return text(value)
        raise invalid_value(type_, value)

    return write


_long = _integer(SchemaType.INT64, Int64, 64)

_SCALARS: dict[SchemaType, Write] = {
    SchemaType.INT8: _integer(SchemaType.INT8, Int8, 8),
    SchemaType.INT16: _integer(SchemaType.INT16, Int16, 16),
    SchemaType.INT32: _integer(SchemaType.INT32, Int32, 32),
    SchemaType.INT64: _long,
    SchemaType.FLOAT32: _scalar(SchemaType.FLOAT32, (Float32, float), float_text),
    SchemaType.FLOAT64: _scalar(SchemaType.FLOAT64, (Float64, float), double_text),
    SchemaType.BOOLEAN: _scalar(SchemaType.BOOLEAN, (bool,), _boolean),
    SchemaType.STRING: _scalar(SchemaType.STRING, (str,), quoted),
    SchemaType.BYTES: _scalar(SchemaType.BYTES, (bytes, memoryview), base64_text),
}

_INSTANTS: dict[str, tuple[str, Callable[[Schema, Instant], int]]] = {
    Date.LOGICAL_NAME: ("Date", Date.from_logical),
    Time.LOGICAL_NAME: ("Time", Time.from_logical),
    Timestamp.LOGICAL_NAME: ("Timestamp", Timestamp.from_logical),
}

_SCHEMALESS: dict[type, Write] = {
    type(None): lambda value: "null",
    str: quoted,
    int: _long,
    Int8: int.__repr__,
    Int16: int.__repr__,
    Int32: int.__repr__,
    Int64: int.__repr__,
    float: double_text,
    Float64: double_text,
    Float32: float_text,
    bool: _boolean,
    bytes: base64_text,
    memoryview: base64_text,
    list: _schemaless_list,
    dict: _schemaless_map,
}

_TYPE_NAMES = {type: type.value for type in SchemaType} | {SchemaType.FLOAT32: "float", SchemaType.FLOAT64: "double"}
